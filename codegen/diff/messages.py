"""What changed in the messages of the schema's root, beside the payloads that methods account for.

The representation keeps only texts of them, because no code comes from them; so their schemas are compared, without
what only describes, and without the references that methods put there.
"""

from __future__ import annotations

from typing import Any

from codegen.canonical import canonical
from codegen.diff.comparison import Comparison
from codegen.diff.findings import BOTH, Finding
from codegen.diff.rules import RULES
from codegen.ir import Schema
from codegen.nodes import REF_PREFIX, is_array, is_object

_DESCRIBES = ("description", "x-docs-ignore")
# The order of these lists says nothing.
_UNORDERED = ("required", "type")


def compare_messages(comparison: Comparison) -> None:
    """Every kind of message by its title."""
    old, new = _by_title(comparison.old.raw), _by_title(comparison.new.raw)
    for title, index in old.items():
        if title not in new:
            _add(comparison, "message-removed", title, f"/anyOf/{index}", "")
    for title, index in new.items():
        if title not in old:
            _add(comparison, "message-added", title, "", f"/anyOf/{index}")
        elif _meaning(comparison, old[title], index):
            _add(comparison, "message-changed", title, f"/anyOf/{old[title]}", f"/anyOf/{index}")


def _by_title(raw: dict[str, Any]) -> dict[str, int]:
    return {message["title"]: index for index, message in enumerate(raw["anyOf"])}


def _add(comparison: Comparison, rule: str, title: str, old: str, new: str) -> None:
    comparison.findings.append(
        Finding(rule, comparison.profile, title, old, new, f"message {title}", RULES[rule].verdicts, flow=BOTH)
    )


def _meaning(comparison: Comparison, old: int, new: int) -> bool:
    """Whether a message means something else."""
    before = _stripped(canonical(comparison.old.raw["anyOf"][old]), _payloads(comparison.old.schema))
    return bool(before != _stripped(canonical(comparison.new.raw["anyOf"][new]), _payloads(comparison.new.schema)))


def _payloads(schema: Schema) -> set[str]:
    return {REF_PREFIX + name for method in schema.methods for name in (method.params, method.result) if name}


def _stripped(schema: Any, payloads: set[str]) -> Any:
    """A schema without descriptions, without the members that are a method's payload, and in one order."""
    if is_object(schema):
        kept = {key: _stripped(value, payloads) for key, value in schema.items() if key not in _DESCRIBES}
        return kept | {key: sorted(kept[key]) for key in _UNORDERED if is_array(kept.get(key))}
    if is_array(schema):
        return [_stripped(each, payloads) for each in schema if not _is_payload(each, payloads)]
    return schema


def _is_payload(schema: Any, payloads: set[str]) -> bool:
    parts = (schema, *schema.get("allOf", ())) if is_object(schema) else ()
    return any(part.get("$ref") in payloads for part in parts if is_object(part))
