"""Reads the messages at the schema's root: which side sends which definition as a request, notification or response.

The runtime implements the messages, so no code is generated for them. Their schemas must have the expected form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from codegen.ir import Schema
from codegen.nodes import REF_PREFIX, Node, is_array, is_object
from codegen.read.properties import read_property

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TITLE = "Agent Client Protocol"
_VERSION = {"type": "string", "const": "2.0"}
_SENDERS = ("Agent", "Client", "ProtocolLevel", "Proxy")
# The titles of a message's parts, by how the message's title ends.
_PARTS = {
    "": ("Request", "Response", "Notification"),
    "BatchCall": ("Request", "Notification", "ProtocolLevelNotification"),
    "BatchResponse": ("Result", "Error"),
}
# The part that a batch need not have.
_OPTIONAL_PART = "ProtocolLevelNotification"
# Envelopes by their keys: the kind, the key of the payload, and the optional keys.
_KINDS = {
    frozenset({"id", "method", "params"}): ("request", "params", {"params"}),
    frozenset({"method", "params"}): ("notification", "params", {"params"}),
    frozenset({"id", "result"}): ("response", "result", set[str]()),
    frozenset({"id", "error"}): ("error", "error", set[str]()),
}


@dataclass(frozen=True)
class Payload:
    """A definition that is the params or the result of a message.

    Attributes:
        sender: the side that sends the message.
        kind: `request`, `notification` or `response`.
        definition: the definition's name.
        doc: the description beside the reference. On a request or a notification, it describes the method.
    """

    sender: str
    kind: str
    definition: str
    doc: str = ""


def read_messages(raw: dict[str, Any]) -> set[Payload]:
    """Read all messages of a schema. Batches contain the same messages, and are checked in the same way."""
    root = Node(raw, "")
    _expect(root, "$schema", _DIALECT)
    root.take("$id", str, "")
    _expect(root, "title", _TITLE)
    definitions: dict[str, Any] = root.take("$defs", dict, {})
    payloads = {payload for message in root.take_list("anyOf") for payload in _read_message(message, definitions)}
    root.close()
    return payloads


def _read_message(node: Node, definitions: dict[str, Any]) -> Iterator[Payload]:
    """Read a message or a batch of the root: `jsonrpc`, and either parts or an inline envelope."""
    title = node.take("title", str, "")
    sender, ending = _split_title(node, title)
    if ending:
        node = _take_batch_item(node)
    _take_docs(node)
    _expect(node, "type", "object")
    properties = node.take_map("properties")
    version = properties.pop("jsonrpc", None)
    if version is None or version.schema != _VERSION:
        raise node.error('Expected the property `jsonrpc` of a message, a string with the only value "2.0".')
    required: list[str] = node.take("required", list, [])
    members = node.take_list("anyOf")
    node.close()
    if "jsonrpc" not in required or (members and (properties or required != ["jsonrpc"])):
        raise node.error("Expected `jsonrpc` to be required; a message with parts requires nothing else.", "required")
    if properties:
        for key, value in properties.items():
            read_property(key, Node(value.schema, value.pointer), key in required, definitions)
        yield from _find_payloads(node, sender, properties, set(required) - {"jsonrpc"})
    titles = [member.schema.get("title") for member in members]
    if not properties and titles != [part for part in _PARTS[ending] if part in titles or part != _OPTIONAL_PART]:
        raise node.error(f"Expected the parts {', '.join(_PARTS[ending])}, in this order.", "anyOf")
    for member in members:
        yield from _read_part(member, sender, definitions)


def _take_docs(node: Node) -> None:
    node.take("description", str, "")
    node.take_flag("x-docs-ignore")


def _read_part(node: Node, sender: str, definitions: dict[str, Any]) -> Iterator[Payload]:
    """Read one part of a message: a definition, or a copy of a member of the response's definition."""
    title = node.take("title", str, "")
    ref = node.take_ref()
    if ref is not None:
        is_shared = title.startswith("ProtocolLevel")
        expected = title if is_shared else sender + title
        if ref != expected or ref not in definitions:
            raise node.error(f"Expected a reference to the definition {expected!r}.")
        node.close()
        definition = Node(definitions[ref], f"/$defs/{ref}")
        for envelope in definition.take_list("anyOf") or [definition]:
            properties = envelope.take_map("properties")
            required = set(envelope.take("required", list, []))
            yield from _find_payloads(envelope, "ProtocolLevel" if is_shared else sender, properties, required)
    elif node.schema not in definitions.get(f"{sender}Response", {}).get("anyOf", ()):
        raise node.error(f"Expected the same schema as one of the members of {sender}Response.")


def _split_title(message: Node, title: str) -> tuple[str, str]:
    """Split the title of a message into the sender and the kind of batch."""
    for sender in _SENDERS:
        if title.startswith(sender) and title.removeprefix(sender) in _PARTS:
            return sender, title.removeprefix(sender)
    raise message.error(f"There is no rule for messages of {title!r}.", "title")


def _take_batch_item(node: Node) -> Node:
    _take_docs(node)
    if node.take("type", str, "") != "array" or node.take("minItems", int, 0) != 1 or "items" not in node:
        raise node.error("Expected a batch to be an array with `items` and `minItems` 1.")
    item = node.take_node("items")
    node.close()
    return item


def _find_payloads(node: Node, sender: str, properties: dict[str, Node], required: set[str]) -> set[Payload]:
    """Return the definitions in an envelope's params or result; none for an error, which the runtime models."""
    if frozenset(properties) not in _KINDS:
        raise node.error(f"An envelope with the keys {', '.join(properties)} is not a JSON-RPC message.")
    kind, key, optional = _KINDS[frozenset(properties)]
    if required != properties.keys() - optional:
        raise node.error(
            f"Expected the keys that a JSON-RPC {kind} requires: {', '.join(sorted(properties.keys() - optional))}.",
            "required",
        )
    if kind == "error":
        return set()
    return {Payload(sender, kind, name, doc) for name, doc in _find_references(properties[key].schema)}


def _expect(node: Node, keyword: str, value: str) -> None:
    actual = node.take(keyword, str, "")
    if actual != value:
        raise node.error(f"Expected {value!r}, found {actual!r}.", keyword)


def _find_references(schema: Any, doc: str = "") -> Iterator[tuple[str, str]]:
    """Yield the definitions that a schema refers to, with the description beside the reference."""
    if is_array(schema):
        for item in schema:
            yield from _find_references(item, doc)
    if is_object(schema):
        description = schema.get("description", doc)
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(REF_PREFIX), description
        for keyword, value in schema.items():
            yield from _find_references(value, description if keyword == "allOf" else "")


def find_envelopes(schema: Schema) -> set[str]:
    """Return the definitions of whole messages, which need no models because the runtime reads and writes them."""
    names = {sender + part for sender in _SENDERS for part in _PARTS[""]}
    envelopes = names & schema.definitions.keys() - schema.payloads
    return envelopes | {model.name for name in envelopes for model in schema.concrete_models(name)}
