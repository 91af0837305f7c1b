"""Compares the kinds of messages: the schemas at the schema's root, and the definitions of whole messages.

No code is generated from them, so their JSON is compared, without descriptions and without the params and results of
methods.
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
    """Compare every kind of message, by its title or name.

    A message that is a definition, and on one side alone, is a finding about the definition.
    """
    old, new = _find_messages(comparison.old, comparison.names), _find_messages(comparison.new, {})
    for title in dict.fromkeys((*old, *new)):
        old_pointer, before = old.get(title, ("", None))
        new_pointer, after = new.get(title, ("", None))
        if before == after:
            continue
        change = "changed" if old_pointer and new_pointer else "removed" if old_pointer else "added"
        if change == "changed" or title not in comparison.envelopes:
            comparison.record(
                rule=f"message-{change}",
                place=title,
                pointers=(old_pointer, new_pointer),
                subject=f"message {title}",
                flow=BOTH,
            )


def _find_messages(side: Snapshot, names: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    """Return the pointer and the comparable schema of each message. `names` are the new names of definitions."""
    payloads = {REF_PREFIX + name for method in side.schema.methods for name in (method.params, method.result) if name}
    messages = {message["title"]: (f"/anyOf/{index}", message) for index, message in enumerate(side.raw["anyOf"])}
    definitions = side.raw["$defs"]
    messages |= {name: (f"/$defs/{name}", definitions[name]) for name in definitions if name in side.schema.envelopes}
    return {
        title: (pointer, _make_comparable(schema, payloads, names)) for title, (pointer, schema) in messages.items()
    }


def _make_comparable(schema: Any, payloads: set[str], names: Mapping[str, str]) -> Any:
    """Return a schema without descriptions and methods' payloads, with unordered lists sorted."""
    if is_object(schema):
        comparable = {
            key: _make_comparable(value, payloads, names) for key, value in schema.items() if key not in _DESCRIPTIVE
        }
        return comparable | {key: sorted(comparable[key]) for key in _UNORDERED if is_array(comparable.get(key))}
    if is_array(schema):
        return [_make_comparable(item, payloads, names) for item in schema if not _is_payload(item, payloads)]
    if isinstance(schema, str) and schema.startswith(REF_PREFIX):
        name = schema.removeprefix(REF_PREFIX)
        return names.get(name, name)
    return schema


def _is_payload(schema: Any, payloads: set[str]) -> bool:
    parts = (schema, *schema.get("allOf", ())) if is_object(schema) else ()
    return any(part.get("$ref") in payloads for part in parts if is_object(part))
