"""The messages of the schema's root: who sends which definition as a request, a notification or a response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from codegen.errors import SchemaError
from codegen.nodes import REF_PREFIX, Node, is_array, is_object, reading

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SENDERS = ("Agent", "Client", "ProtocolLevel", "Proxy")
_KINDS = {
    frozenset({"id", "method", "params"}): ("request", "params"),
    frozenset({"method", "params"}): ("notification", "params"),
    frozenset({"id", "result"}): ("response", "result"),
    frozenset({"id", "error"}): ("error", "error"),
}


@dataclass(frozen=True)
class Payload:
    """A definition in the place of params or result, and whose message it is in."""

    sender: str
    kind: str
    definition: str


def read_payloads(raw: dict[str, Any]) -> set[Payload]:
    """All payloads of a schema. A batch must hold what single messages hold: it adds nothing of its own."""
    single: set[Payload] = set()
    batched: set[Payload] = set()
    with reading(Node(raw, "")) as root:
        if root.take("$schema", str, "") != _DIALECT:
            raise root.error(f"Expected {_DIALECT}.", "$schema")
        root.take("title", str, "")
        root.take("$defs", dict, {})
        for message in root.take_list("anyOf"):
            title = message.take("title", str, "")
            is_batch = title.removesuffix("Call").removesuffix("Response").endswith("Batch")
            sender = title.split("Batch")[0] if is_batch else title
            if sender not in _SENDERS:
                raise message.error(f"Messages of {title!r} have no rule.", "title")
            found = _batch(message, sender, raw) if is_batch else _message(message, sender, raw)
            (batched if is_batch else single).update(found)
    known = {(payload.kind, payload.definition) for payload in single}
    for payload in sorted(batched, key=str):
        if (payload.kind, payload.definition) not in known:
            raise SchemaError("/anyOf", f"{payload.definition} is in a batch, but in no message of its own.")
    return single


def _batch(node: Node, sender: str, raw: dict[str, Any]) -> set[Payload]:
    node.take("description", str, "")
    if node.take("type", str, "") != "array" or node.take("minItems", int, 0) != 1:
        raise node.error("A batch is an array of at least one message.")
    found = _message(node.take_node("items"), sender, raw)
    node.close()
    return found


def _message(node: Node, sender: str, raw: dict[str, Any]) -> set[Payload]:
    """A message of the root: `jsonrpc`, and an envelope inline or one of several."""
    node.take("description", str, "")
    node.take_flag("x-docs-ignore")
    properties = node.take_map("properties")
    version = properties.pop("jsonrpc", None)
    if version is None or version.schema.get("enum") != ["2.0"] or "jsonrpc" not in node.take("required", list, []):
        raise node.error('Every message requires `jsonrpc` to be "2.0".')
    if node.take("type", str, "") != "object":
        raise node.error("A message is an object.")
    found = _envelope(properties, sender, node) if properties else set[Payload]()
    for each in node.take_list("anyOf"):
        found |= _envelope_or_reference(each, sender, raw)
    node.close()
    return found


def _envelope_or_reference(node: Node, sender: str, raw: dict[str, Any]) -> set[Payload]:
    """An envelope: a definition, one of several, or inline."""
    node.take("title", str, "")
    node.take("description", str, "")
    node.take_flag("x-docs-ignore")
    name = node.take_ref()
    if name is not None:
        if name not in raw["$defs"]:
            raise node.error(f"There is no definition {name!r}.")
        node.close()
        return _envelope_or_reference(Node(raw["$defs"][name], f"/$defs/{name}"), sender, raw)
    found: set[Payload] = set()
    for each in node.take_list("anyOf"):
        found |= _envelope_or_reference(each, sender, raw)
    properties = node.take_map("properties")
    node.take("required", list, [])
    node.take("type", str, "")
    node.close()
    return found | (_envelope(properties, sender, node) if properties else set())


def _envelope(properties: dict[str, Node], sender: str, node: Node) -> set[Payload]:
    found = _KINDS.get(frozenset(properties))
    if found is None:
        raise node.error(f"An envelope with {', '.join(properties)} is no JSON-RPC message.")
    kind, key = found
    return {Payload(sender, kind, name) for name in _references(properties[key].schema)} if kind != "error" else set()


def _references(schema: Any) -> set[str]:
    if is_object(schema):
        own = {schema["$ref"].removeprefix(REF_PREFIX)} if "$ref" in schema else set[str]()
        return own.union(*map(_references, schema.values()))
    if is_array(schema):
        return set[str]().union(*map(_references, schema))
    return set()
