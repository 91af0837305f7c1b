"""Reads the messages at the schema's root: who sends which definition as a request, a notification or a response.

No code is generated for the messages themselves, because the runtime implements them. So their schemas are checked
against the expected form, and their descriptions are kept as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from codegen.ir import Schema
from codegen.nodes import REF_PREFIX, Node, is_array, is_object
from codegen.read.docs import with_member_docs
from codegen.read.properties import read_property

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TITLE = "Agent Client Protocol"
_VERSION = {"type": "string", "enum": ["2.0"]}
_SENDERS = ("Agent", "Client", "ProtocolLevel", "Proxy")
# The titles of a message's parts, by the end of the message's title.
_PARTS = {
    "": ("Request", "Response", "Notification"),
    "BatchCall": ("Request", "Notification", "ProtocolLevelNotification"),
    "BatchResponse": ("Result", "Error"),
}
# The envelopes by their keys: the kind, the key of the payload, and the optional keys.
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
        doc: the description beside the reference: for a request or a notification, that of the method.
    """

    sender: str
    kind: str
    definition: str
    doc: str = ""


@dataclass
class Messages:
    """The payloads of a schema's messages, and upstream's descriptions of the messages by subject."""

    payloads: set[Payload] = field(default_factory=set[Payload])
    texts: dict[str, str] = field(default_factory=dict[str, str])


def read_messages(raw: dict[str, Any]) -> Messages:
    """Read all messages of a schema. Batches hold the same messages, and are checked in the same way."""
    reader = _Reader(raw)
    root = Node(raw, "")
    _expect(root, "$schema", _DIALECT)
    _expect(root, "title", _TITLE)
    root.take("$defs", dict, {})
    for message in root.take_list("anyOf"):
        reader.read(message)
    root.close()
    return reader.found


class _Reader:
    """Reads messages one by one and collects their payloads and descriptions."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.definitions: dict[str, Any] = raw["$defs"]
        self.found = Messages()

    def read(self, node: Node) -> None:
        """Read a message of the root, a single one or a batch."""
        title = node.take("title", str, "")
        sender, ending = _split(node, title)
        self._describe(f"`{title}`", node)
        if not ending:
            self._message(node, title, sender, ending)
            return
        item = _batch_item(node)
        self._describe(f"each of `{title}`", item)
        self._message(item, title, sender, ending)

    def _describe(self, subject: str, node: Node) -> None:
        self.found.texts[subject] = node.take("description", str, "")
        if node.take_flag("x-docs-ignore"):
            self.found.texts[subject] += "\n\nUpstream's documentation omits it."

    def _message(self, node: Node, title: str, sender: str, ending: str) -> None:
        """Read a message: `jsonrpc`, and the parts that it is one of or an inline envelope."""
        _expect(node, "type", "object")
        properties = node.take_map("properties")
        version = properties.pop("jsonrpc", None)
        if version is None or version.schema != _VERSION:
            raise node.error('Expected the property `jsonrpc` of a message, a string with the enum ["2.0"].')
        required: list[str] = node.take("required", list, [])
        members = node.take_list("anyOf")
        node.close()
        if "jsonrpc" not in required or (members and (properties or required != ["jsonrpc"])):
            raise node.error(
                "Expected `jsonrpc` to be required; a message with parts requires nothing else.", "required"
            )
        if properties:
            self._inline(title, properties, set(required))
            self.found.payloads |= _payloads(node, sender, properties, set(required) - {"jsonrpc"})
            return
        if [each.schema.get("title") for each in members] != list(_PARTS[ending]):
            raise node.error(f"Expected the parts {', '.join(_PARTS[ending])}, in this order.", "anyOf")
        for each in members:
            self._part(each, sender)

    def _part(self, node: Node, sender: str) -> None:
        """Read one part of a message: a definition, or a copy of a member of the response's definition."""
        title = node.take("title", str, "")
        ref = node.take_ref()
        if ref is not None:
            is_shared = title.startswith("ProtocolLevel")
            expected = title if is_shared else sender + title
            if ref != expected or ref not in self.definitions:
                raise node.error(f"Expected a reference to the definition {expected!r}.")
            node.close()
            self.found.payloads |= self._definition(ref, "ProtocolLevel" if is_shared else sender)
        elif node.schema not in self.definitions.get(f"{sender}Response", {}).get("anyOf", ()):
            raise node.error(f"Expected the same schema as one of the members of {sender}Response.")

    def _definition(self, name: str, sender: str) -> set[Payload]:
        """Return the payloads of an envelope that is a definition: its own, or those of its members."""
        node = Node(self.definitions[name], f"/$defs/{name}")
        members = node.take_list("anyOf") or [node]
        return {payload for each in members for payload in _envelope(each, sender)}

    def _inline(self, title: str, properties: dict[str, Node], required: set[str]) -> None:
        """Read the properties of an inline envelope as those of any object, and keep their descriptions."""
        for key, each in properties.items():
            read = read_property(key, Node(each.schema, each.pointer), key in required, self.definitions)
            doc = with_member_docs(
                each.schema.get("description", ""), without_method_members(each.schema, self.definitions)
            )
            self.found.texts[f"`{key}` of `{title}`, `{read.annotation}`"] = doc


def _split(message: Node, title: str) -> tuple[str, str]:
    """Split the title of a message into the sender and the kind of batch."""
    for sender in _SENDERS:
        if title.startswith(sender) and title.removeprefix(sender) in _PARTS:
            return sender, title.removeprefix(sender)
    raise message.error(f"There is no rule for messages of {title!r}.", "title")


def _batch_item(node: Node) -> Node:
    if node.take("type", str, "") != "array" or node.take("minItems", int, 0) != 1 or "items" not in node:
        raise node.error("Expected a batch to be an array with `items` and `minItems` 1.")
    item = node.take_node("items")
    node.close()
    return item


def _envelope(node: Node, sender: str) -> set[Payload]:
    properties = node.take_map("properties")
    return _payloads(node, sender, properties, set(node.take("required", list, [])))


def _payloads(node: Node, sender: str, properties: dict[str, Node], required: set[str]) -> set[Payload]:
    """Return the definitions in an envelope's params or result. Errors have none, because the runtime models them."""
    found = _KINDS.get(frozenset(properties))
    if found is None:
        raise node.error(f"An envelope with the keys {', '.join(properties)} is not a JSON-RPC message.")
    kind, key, optional = found
    if required != properties.keys() - optional:
        raise node.error(
            f"Expected the keys that a JSON-RPC {kind} requires: {', '.join(sorted(properties.keys() - optional))}.",
            "required",
        )
    if kind == "error":
        return set()
    return {Payload(sender, kind, name, doc) for name, doc in _described(properties[key].schema)}


def _expect(node: Node, keyword: str, value: str) -> None:
    found = node.take(keyword, str, "")
    if found != value:
        raise node.error(f"Expected {value!r}, found {found!r}.", keyword)


def _described(schema: Any, doc: str = "") -> Iterator[tuple[str, str]]:
    """Yield the definitions that a schema refers to, each with the description beside the reference."""
    if is_array(schema):
        for each in schema:
            yield from _described(each, doc)
    if is_object(schema):
        description = schema.get("description", doc)
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(REF_PREFIX), description
        for keyword, value in schema.items():
            yield from _described(value, description if keyword == "allOf" else "")


def without_method_members(schema: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema without the members that are a method's params, because the method's stub has their descriptions.

    A member whose title is not the definition's name stays, because the stub doesn't show the title.
    """
    if is_array(schema):
        return [without_method_members(each, definitions) for each in schema if not _is_of_method(each, definitions)]
    if is_object(schema):
        return {keyword: without_method_members(value, definitions) for keyword, value in schema.items()}
    return schema


def _is_of_method(schema: Any, definitions: dict[str, Any]) -> bool:
    parts = (schema, *schema.get("allOf", ())) if is_object(schema) else ()
    names = [part["$ref"].removeprefix(REF_PREFIX) for part in parts if is_object(part) and "$ref" in part]
    return any("x-method" in definitions.get(name, {}) and schema.get("title", name) == name for name in names)


def find_envelopes(schema: Schema) -> set[str]:
    """Return the names of the definitions of whole messages, which the runtime reads and writes without models."""
    payloads = {name for method in schema.methods for name in (method.params, method.result)}
    found = {sender + part for sender in _SENDERS for part in _PARTS[""]} & schema.definitions.keys() - payloads
    return found | {model.name for name in found for model in schema.concrete_models(name)}
