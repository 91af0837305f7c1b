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


def at(path: str, **keywords: Any) -> Schema:
    """Return the base schema with keywords added or replaced in one place."""
    schema = json.loads(json.dumps(BASE))
    node: Any = schema
    for key in path.strip("/").split("/") if path else []:
        node = node[int(key) if isinstance(node, list) else key]
    node.update(keywords)
    return schema


def without(*path: str) -> Schema:
    """Return the base schema without one place."""
    schema = json.loads(json.dumps(BASE))
    node: Any = schema
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
    return schema


def _definitions() -> Schema:
    made_by_acp_schema = re.compile(r"(Agent|Client)(Request|Response|Notification)|RequestId|Error|ExtRequest")
    return {name: each for name, each in BASE["$defs"].items() if not made_by_acp_schema.fullmatch(name)}
