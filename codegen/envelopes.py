"""The messages of the schema's root: who sends which definition as a request, a notification or a response.

No code is generated for the messages themselves, the runtime has them. So all there is to read is checked against
what is known of them, and what upstream says about them is kept as text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from codegen.ir import Type
from codegen.nodes import REF_PREFIX, Node, is_array, is_object, reading
from codegen.properties import read_property
from codegen.types import missing_definition

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TITLE = "Agent Client Protocol"
_VERSION = {"type": "string", "enum": ["2.0"]}
_SENDERS = ("Agent", "Client", "ProtocolLevel", "Proxy")
# The parts of a message by the end of its title, and in which definition each stands.
_PARTS = {
    "": ("Request", "Response", "Notification"),
    "BatchCall": ("Request", "Notification", "ProtocolLevelNotification"),
    "BatchResponse": ("Result", "Error"),
}
# What an envelope is, by its keys: its kind, the key of its payload, and the keys it may do without.
_KINDS = {
    frozenset({"id", "method", "params"}): ("request", "params", {"params"}),
    frozenset({"method", "params"}): ("notification", "params", {"params"}),
    frozenset({"id", "result"}): ("response", "result", set[str]()),
    frozenset({"id", "error"}): ("error", "error", set[str]()),
}


@dataclass(frozen=True)
class Payload:
    """A definition in the place of params or result, and whose message it is in."""

    sender: str
    kind: str
    definition: str


@dataclass
class Messages:
    """What the root of a schema says: the payloads, and upstream's words by what they are about."""

    payloads: set[Payload] = field(default_factory=set[Payload])
    texts: dict[str, str] = field(default_factory=dict[str, str])


def read_messages(raw: dict[str, Any]) -> Messages:
    """All messages of a schema. Batches hold what single messages hold and add nothing of their own."""
    found = Messages()
    with reading(Node(raw, "")) as root:
        _expect(root, "$schema", _DIALECT)
        _expect(root, "title", _TITLE)
        root.take("$defs", dict, {})
        for message in root.take_list("anyOf"):
            title = message.take("title", str, "")
            sender, ending = _split(message, title)
            found.texts[f"`{title}`"] = message.take("description", str, "")
            item = _batch_item(message) if ending else message
            if ending:
                found.texts[f"each of `{title}`"] = item.take("description", str, "")
            _message(item, title, sender, _PARTS[ending], raw, found)
    return found


def _split(message: Node, title: str) -> tuple[str, str]:
    """The title of a message as its sender and the kind of batch it is."""
    for sender in _SENDERS:
        if title.startswith(sender) and title.removeprefix(sender) in _PARTS:
            return sender, title.removeprefix(sender)
    raise message.error(f"Messages of {title!r} have no rule.", "title")


def _batch_item(node: Node) -> Node:
    if node.take("type", str, "") != "array" or node.take("minItems", int, 0) != 1 or "items" not in node:
        raise node.error("A batch is an array of at least one message.")
    item = node.take_node("items")
    node.close()
    return item


def _message(node: Node, title: str, sender: str, parts: tuple[str, ...], raw: dict[str, Any], found: Messages) -> None:
    """A message: `jsonrpc` and the parts that it is one of, or an envelope inline."""
    if node.take_flag("x-docs-ignore"):
        found.texts[f"`{title}`"] += "\n\nUpstream leaves it out of its documentation."
    _expect(node, "type", "object")
    properties = node.take_map("properties")
    version = properties.pop("jsonrpc", None)
    if version is None or version.schema != _VERSION:
        raise node.error('Every message has `jsonrpc`, a string that is "2.0".')
    required: list[str] = node.take("required", list, [])
    members = node.take_list("anyOf")
    node.close()
    if "jsonrpc" not in required or (members and (properties or required != ["jsonrpc"])):
        raise node.error("Every message requires `jsonrpc`; what else it requires say its parts.", "required")
    if properties:
        found.payloads |= _inline(node, title, sender, properties, set(required) - {"jsonrpc"}, raw, found)
        return
    if [each.schema.get("title") for each in members] != list(parts):
        raise node.error(f"Expected the parts {', '.join(parts)}, in this order.", "anyOf")
    for each in members:
        found.payloads |= _part(each, sender, raw)


def _part(node: Node, sender: str, raw: dict[str, Any]) -> set[Payload]:
    """One of a message's parts: a definition, or what a member of the response's definition says too."""
    title = node.take("title", str, "")
    ref = node.take_ref()
    if ref is not None:
        expected = title if title.startswith("ProtocolLevel") else sender + title
        if ref != expected or ref not in raw["$defs"]:
            raise node.error(f"Expected a reference to the definition {expected!r}.")
        node.close()
        return _definition(ref, "ProtocolLevel" if ref == title else sender, raw)
    if node.schema not in raw["$defs"].get(f"{sender}Response", {}).get("anyOf", ()):
        raise node.error(f"Expected what {sender}Response says, word for word.")
    return set()


def _definition(name: str, sender: str, raw: dict[str, Any]) -> set[Payload]:
    """The payloads of an envelope that is a definition: itself, or each of its members."""
    node = Node(raw["$defs"][name], f"/$defs/{name}")
    members = node.take_list("anyOf") or [node]
    return {payload for each in members for payload in _envelope(each, sender)}


def _envelope(node: Node, sender: str) -> set[Payload]:
    properties = node.take_map("properties")
    return _payloads(node, sender, properties, set(node.take("required", list, [])))


def _inline(
    node: Node,
    title: str,
    sender: str,
    properties: dict[str, Node],
    required: set[str],
    raw: dict[str, Any],
    found: Messages,
) -> set[Payload]:
    """An envelope without a definition (or with one that says the same), read like any object."""

    def lookup(name: str, place: Node) -> Type:
        if name not in raw["$defs"]:
            raise missing_definition(name, place)
        return Type(name, "ref", names=(name,), spelled=False)

    for key, each in properties.items():
        read = read_property(key, Node(each.schema, each.pointer), key in required, lookup)
        found.texts[f"`{key}` of `{title}`, `{read.annotation}`"] = read.doc
    return _payloads(node, sender, properties, required)


def _payloads(node: Node, sender: str, properties: dict[str, Node], required: set[str]) -> set[Payload]:
    """What is in an envelope's params or result. An error's data is the runtime's."""
    found = _KINDS.get(frozenset(properties))
    if found is None:
        raise node.error(f"An envelope with {', '.join(properties)} is no JSON-RPC message.")
    kind, key, optional = found
    if required != properties.keys() - optional:
        raise node.error(f"A JSON-RPC {kind} requires {', '.join(sorted(properties.keys() - optional))}.", "required")
    if kind == "error":
        return set()
    return {Payload(sender, kind, name) for name in _references(properties[key].schema)}


def _expect(node: Node, keyword: str, value: str) -> None:
    if node.take(keyword, str, "") != value:
        raise node.error(f"Expected {value!r}.", keyword)


def _references(schema: Any) -> set[str]:
    if is_object(schema):
        own = {schema["$ref"].removeprefix(REF_PREFIX)} if "$ref" in schema else set[str]()
        return own.union(*map(_references, schema.values()))
    if is_array(schema):
        return set[str]().union(*map(_references, schema))
    return set()
