"""Compares the kinds of messages: the schemas at the schema's root, and the definitions of whole messages.

No code is generated from them. Their properties are compared as types, without the params and results of methods.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from codegen.diff.compare.comparison import Comparison
from codegen.diff.match import leniency
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import BOTH
from codegen.ir import Field
from codegen.nodes import Node
from codegen.read.properties import read_property
from codegen.types import union_of

# The parts and the properties of a message: the name of each, and a text that changes if it does.
Message = dict[str, str]


def compare_messages(comparison: Comparison) -> None:
    """Compare every kind of message, by its title or name.

    If a message is a definition that only one side has, the finding is about the definition.
    """
    old, new = _find_messages(comparison.old, comparison.names), _find_messages(comparison.new, {})
    for title in dict.fromkeys((*old, *new)):
        old_pointer, before = old.get(title, ("", {}))
        new_pointer, after = new.get(title, ("", {}))
        if before == after:
            continue
        texts = "", ""
        if old_pointer and new_pointer:
            rule = "message-changed"
            texts = _show_difference(before, after), _show_difference(after, before)
        elif title in comparison.envelopes:
            continue
        else:
            rule = "message-removed" if old_pointer else "message-added"
        comparison.record(
            rule=rule,
            place=title,
            pointers=(old_pointer, new_pointer),
            subject=f"message {title}",
            texts=texts,
            flow=BOTH,
        )


def _show_difference(message: Message, other: Message) -> str:
    return ", ".join(text for name, text in message.items() if other.get(name) != text)


def _find_messages(side: Snapshot, names: Mapping[str, str]) -> dict[str, tuple[str, Message]]:
    """Return the pointer and the comparable form of each message. `names` are the new names of definitions."""
    schema = side.schema
    messages = {
        message["title"]: (
            f"/anyOf/{index}",
            dict(_describe(Node(message, ""), side.raw["$defs"], schema.payloads, names)),
        )
        for index, message in enumerate(side.raw["anyOf"])
    }
    for name in side.raw["$defs"]:
        if name in schema.envelopes:
            fields = [field for model in schema.concrete_models(name) for field in schema.fields(model.name)]
            messages[name] = (schema.definitions[name].pointer, dict(_describe_fields(fields, schema.payloads, names)))
    return messages


def _describe(
    message: Node, definitions: dict[str, Any], payloads: Collection[str], names: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the parts and the properties of a message at the schema's root, which may be a batch."""
    if "items" in message:
        yield "batch", "batch"
        message = message.take_node("items")
    for part in message.take_list("anyOf"):
        title: str = part.schema["title"]
        yield f"part {title}", f"part {title}"
        if "properties" in part:  # a copy of a part of the response
            yield from _describe(part, definitions, payloads, names)
    required: list[Any] = message.take("required", list, [])
    properties = message.take_map("properties").items()
    yield from _describe_fields(
        [read_property(key, node, key in required, definitions) for key, node in properties], payloads, names
    )


def _describe_fields(
    fields: list[Field], payloads: Collection[str], names: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for field in fields:
        kept = [part for part in field.type.members if part.name not in payloads]
        annotation = union_of(kept).renamed(names).annotation if kept else "payloads"
        text = ", ".join((f"{field.wire}: {annotation}", *leniency(field)))
        yield field.wire, text if field.required else f"{text} (optional)"
