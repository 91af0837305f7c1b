"""Compare the kinds of messages at the schema's root, apart from the payloads of methods.

No code is generated from them, so the intermediate representation has only their descriptions. Their schemas are
compared instead, without descriptions and without references to the params and results of methods.
"""

from __future__ import annotations

import json
from typing import Any

from codegen.diff.compare.comparison import Comparison
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import BOTH, Finding
from codegen.diff.verdict.rules import RULES
from codegen.ir import Schema
from codegen.nodes import REF_PREFIX, escape, is_array, is_object
from codegen.read.canonical import canonical

_DESCRIPTIVE = ("description", "x-docs-ignore")
# Keywords whose values are lists in any order.
_UNORDERED = ("required", "type")
_LONGEST = 120


def compare_messages(comparison: Comparison) -> None:
    """Compare every kind of message, by its title."""
    old, new = _by_title(comparison.old.raw), _by_title(comparison.new.raw)
    for title, index in old.items():
        if title not in new:
            _add(comparison, "message-removed", title, f"/anyOf/{index}", "")
    for title, index in new.items():
        if title not in old:
            _add(comparison, "message-added", title, "", f"/anyOf/{index}")
            continue
        before, after = _meaning(comparison.old, old[title]), _meaning(comparison.new, index)
        if before != after:
            texts = _difference(before, after)
            _add(comparison, "message-changed", title, f"/anyOf/{old[title]}", f"/anyOf/{index}", texts)


def _by_title(raw: dict[str, Any]) -> dict[str, int]:
    return {message["title"]: index for index, message in enumerate(raw["anyOf"])}


def _add(comparison: Comparison, rule: str, title: str, old: str, new: str, texts: tuple[str, str] = ("", "")) -> None:
    comparison.findings.append(
        Finding(
            rule,
            comparison.profile,
            title,
            old,
            new,
            f"message {title}",
            RULES[rule].verdicts,
            *texts,
            flow=BOTH,
        )
    )


def _meaning(snapshot: Snapshot, index: int) -> Any:
    """Return the schema of a message without descriptions and without the payloads of methods."""
    return _stripped(canonical(snapshot.raw["anyOf"][index]), _payloads(snapshot.schema))


def _difference(before: Any, after: Any, place: str = "") -> tuple[str, str]:
    """Return the first difference: the text of both sides, each with its pointer."""
    if is_object(before) and is_object(after):
        key = next(key for key in (*before, *after) if before.get(key) != after.get(key))
        return _difference(before.get(key), after.get(key), f"{place}/{escape(key)}")
    if is_array(before) and is_array(after) and len(before) == len(after):
        index = next(index for index, each in enumerate(before) if each != after[index])
        return _difference(before[index], after[index], f"{place}/{index}")
    texts = (f"{place}: {_shortened(json.dumps(each))}" if each is not None else "" for each in (before, after))
    old, new = texts
    return old, new


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


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
