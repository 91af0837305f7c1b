"""Compare the kinds of messages at the schema's root, apart from the payloads of methods.

No code is generated from them, so the intermediate representation has only their descriptions. Their schemas are
compared instead, without descriptions and without references to the params and results of methods.
"""

from __future__ import annotations

from typing import Any

from codegen.diff.compare.comparison import Comparison
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import BOTH, Finding
from codegen.diff.verdict.rules import RULES
from codegen.ir import Schema
from codegen.nodes import REF_PREFIX, is_array, is_object

_DESCRIPTIVE = ("description", "x-docs-ignore")
# Keywords whose values are lists in any order.
_UNORDERED = ("required", "type")


def compare_messages(comparison: Comparison) -> None:
    """Compare every kind of message, by its title."""
    old, new = _by_title(comparison.old.raw), _by_title(comparison.new.raw)
    for title, index in old.items():
        if title not in new:
            _add(comparison, "message-removed", title, f"/anyOf/{index}", "")
    for title, index in new.items():
        if title not in old:
            _add(comparison, "message-added", title, "", f"/anyOf/{index}")
        elif _meaning(comparison.old, old[title]) != _meaning(comparison.new, index):
            _add(comparison, "message-changed", title, f"/anyOf/{old[title]}", f"/anyOf/{index}")


def _by_title(raw: dict[str, Any]) -> dict[str, int]:
    return {message["title"]: index for index, message in enumerate(raw["anyOf"])}


def _add(comparison: Comparison, rule: str, title: str, old: str, new: str) -> None:
    verdicts = RULES[rule].verdicts
    found = Finding(rule, comparison.profile, title, old, new, f"message {title}", verdicts, flow=BOTH)
    comparison.findings.append(found)


def _meaning(snapshot: Snapshot, index: int) -> Any:
    """Return the schema of a message without descriptions and without the payloads of methods."""
    return _stripped(snapshot.raw["anyOf"][index], _payloads(snapshot.schema))


def _payloads(schema: Schema) -> set[str]:
    return {REF_PREFIX + name for method in schema.methods for name in (method.params, method.result) if name}


def _stripped(schema: Any, payloads: set[str]) -> Any:
    """Return a schema without descriptions and without the payloads of methods, its unordered lists sorted."""
    if is_object(schema):
        kept = {key: _stripped(value, payloads) for key, value in schema.items() if key not in _DESCRIPTIVE}
        return kept | {key: sorted(kept[key]) for key in _UNORDERED if is_array(kept.get(key))}
    if is_array(schema):
        return [_stripped(each, payloads) for each in schema if not _is_payload(each, payloads)]
    return schema


def _is_payload(schema: Any, payloads: set[str]) -> bool:
    parts = (schema, *schema.get("allOf", ())) if is_object(schema) else ()
    return any(part.get("$ref") in payloads for part in parts if is_object(part))
