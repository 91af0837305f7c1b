"""The schema that the cases of `test_refusals` break, and functions that break it."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.support.codegen.build import STRING, Schema, acp_schema, model, other, part_of, ref, request, tagged

Case = tuple[Schema, str, str]
PAIR = {"anyOf": [tagged("type", "text", "Text"), other("type", "text")]}
BASE: Schema = acp_schema(
    {
        "Text": model(["text"], text=STRING, note={"type": ["string", "null"]}),
        "Kind": {"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]},
        "Block": PAIR,
        "Holder": model(
            ["items"],
            items={"type": "array", "items": ref("Text")},
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
    schema = json.loads(json.dumps(BASE))
    _find(schema, pointer).update(keywords)
    return schema


def put(pointer: str, value: Any) -> Schema:
    """Return the base schema with another value in one place."""
    schema = json.loads(json.dumps(BASE))
    parent, _, key = pointer.rpartition("/")
    node = _find(schema, parent)
    node[int(key) if isinstance(node, list) else key] = value
    return schema


def without(pointer: str) -> Schema:
    """Return the base schema without one place."""
    schema = json.loads(json.dumps(BASE))
    parent, _, key = pointer.rpartition("/")
    del _find(schema, parent)[key]
    return schema


def _find(schema: Schema, pointer: str) -> Any:
    node: Any = schema
    for key in pointer.split("/")[1:]:
        node = node[int(key) if isinstance(node, list) else key]
    return node


def _definitions() -> Schema:
    made_by_acp_schema = re.compile(r"(Agent|Client)(Request|Response|Notification)|RequestId|Error|ExtRequest")
    return {name: definition for name, definition in BASE["$defs"].items() if not made_by_acp_schema.fullmatch(name)}
