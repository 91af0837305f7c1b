"""Compare the kinds of messages, apart from the payloads of methods: those at the schema's root, and their definitions.

No code is generated from them, so their schemas are compared, without descriptions and without references to the params
and results of methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codegen.diff.compare.comparison import Comparison
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import BOTH
from codegen.nodes import REF_PREFIX, is_array, is_object

_DESCRIPTIVE = ("description", "x-docs-ignore")
# Keywords whose values are lists in any order.
_UNORDERED = ("required", "type")


def compare_messages(comparison: Comparison) -> None:
    """Compare every kind of message, by its title or name. A definition on one side alone is a finding of its own."""
    old, new = _find_messages(comparison.old, comparison.names), _find_messages(comparison.new, {})
    for title in dict.fromkeys((*old, *new)):
        before, after = old.get(title, ("", None)), new.get(title, ("", None))
        is_told = title in comparison.envelopes and "" in (before[0], after[0])
        if before[1] != after[1] and not is_told:
            what_happened = "added" if not before[0] else "changed" if after[0] else "removed"
            pointers = before[0], after[0]
            comparison.record(f"message-{what_happened}", title, pointers, f"message {title}", flow=BOTH)


def _find_messages(side: Snapshot, names: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    """Return the pointer and the meaning of each message. `names`: the new names of definitions."""
    payloads = {REF_PREFIX + name for method in side.schema.methods for name in (method.params, method.result) if name}
    messages = {message["title"]: (f"/anyOf/{index}", message) for index, message in enumerate(side.raw["anyOf"])}
    definitions = side.raw["$defs"]
    messages |= {name: (f"/$defs/{name}", definitions[name]) for name in definitions if name in side.schema.envelopes}
    return {title: (pointer, _strip(schema, payloads, names)) for title, (pointer, schema) in messages.items()}


def _strip(schema: Any, payloads: set[str], names: Mapping[str, str]) -> Any:
    """Return a schema without descriptions and without the payloads of methods, its unordered lists sorted."""
    if is_object(schema):
        kept = {key: _strip(value, payloads, names) for key, value in schema.items() if key not in _DESCRIPTIVE}
        return kept | {key: sorted(kept[key]) for key in _UNORDERED if is_array(kept.get(key))}
    if is_array(schema):
        return [_strip(item, payloads, names) for item in schema if not _is_payload(item, payloads)]
    if isinstance(schema, str) and schema.startswith(REF_PREFIX):
        name = schema.removeprefix(REF_PREFIX)
        return names.get(name, name)
    return schema


def _is_payload(schema: Any, payloads: set[str]) -> bool:
    parts = (schema, *schema.get("allOf", ())) if is_object(schema) else ()
    return any(part.get("$ref") in payloads for part in parts if is_object(part))
