"""The schema that the cases of `test_refusals` break, and functions that break it."""

from __future__ import annotations

import re
from typing import Any

from tests.support.codegen.build import (
    STRING,
    Schema,
    acp_schema,
    array,
    enum,
    model,
    other,
    part_of,
    ref,
    request,
    tagged,
    wraps,
)
from tests.support.codegen.mutations import at as value_at, replaced

Case = tuple[Schema, str, str]
PAIR = {"anyOf": [tagged("type", "text", "Text"), other("type", "text")]}
BASE: Schema = acp_schema(
    {
        "Text": model(["text"], text=STRING, note={"type": ["string", "null"]}),
        "Kind": enum("a", "b"),
        "Block": PAIR,
        "Holder": model(
            ["items"],
            items=array(ref("Text")),
            extra={"type": "object", "additionalProperties": True},
        ),
        **request("session/new", "New", model(["cwd"], cwd=STRING)),
        "CancelNotification": part_of("session/cancel", "agent", model(["sessionId"], sessionId=STRING)),
    }
)


def changed(**definitions: Any) -> Schema:
    """Return the base schema with definitions added or replaced."""
    return acp_schema({**_definitions(), **definitions})


def at(pointer: str, **keywords: Any) -> Schema:
    """Return the base schema with keywords added or replaced in one place."""
    path = _path(pointer)
    return replaced(BASE, path, {**value_at(BASE, path), **keywords})


def put(pointer: str, value: Any) -> Schema:
    """Return the base schema with another value in one place."""
    return replaced(BASE, _path(pointer), value)


def without(pointer: str) -> Schema:
    """Return the base schema without one place."""
    *parent, last = _path(pointer)
    node = value_at(BASE, parent)
    return replaced(BASE, parent, {key: value for key, value in node.items() if key != last})


def batch(title: str, *parts: str) -> Schema:
    """Return a batch of the client, made of messages of these kinds."""
    shared = "ProtocolLevelNotification"
    members = [{"title": part, **wraps(part if part == shared else f"Client{part}")} for part in parts]
    item = model(["jsonrpc"], jsonrpc={"type": "string", "const": "2.0"}) | {"anyOf": members}
    return {"title": title, "type": "array", "minItems": 1, "items": item}


def with_batches(*batches: Schema) -> Schema:
    """Return the base schema with batches after its messages."""
    notification = model(["method"], method=STRING, params=ref("ExtRequest"))
    schema = changed(ProtocolLevelNotification=notification)
    return schema | {"anyOf": [*schema["anyOf"], *batches]}


def _path(pointer: str) -> list[str | int]:
    return [int(key) if key.isdecimal() else key for key in pointer.split("/")[1:]]


def _definitions() -> Schema:
    made_by_acp_schema = re.compile(r"(Agent|Client)(Request|Response|Notification)|RequestId|Error|ExtRequest")
    return {name: definition for name, definition in BASE["$defs"].items() if not made_by_acp_schema.fullmatch(name)}
