"""Compare the facts about methods that are in `methods.toml`, not in the schema.

A fact about a property that the schema added is not a finding here, because the property itself is one. A fact that
names what the schema no longer has is one, because the bindings no longer act on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from codegen.data.resolve import has_part
from codegen.diff.compare.comparison import Comparison
from codegen.diff.method_facts import FACTS
from codegen.diff.verdict.findings import BOTH, Finding
from codegen.diff.verdict.rules import RULES
from codegen.ir import Method
from codegen.nodes import is_array, is_object

# The rules about facts that concern the method's result.
ABOUT_RESULTS = frozenset(f"method-{key}-changed" for key in ("creates", "ends", "gone"))


def compare_facts(old: Method, new: Method) -> Iterator[tuple[str, tuple[str, str]]]:
    """Return the rule of each fact that changed for a method, with the texts of both sides."""
    old_facts, new_facts = dict(old.facts), dict(new.facts)
    for key in FACTS:
        before, after = old.entry.get(key), _kept(key, old, new)
        if before != after and old_facts.get(key) != new_facts.get(key):
            yield f"method-{key}-changed", (_shown(before), _shown(after))


def _kept(key: str, old: Method, new: Method) -> Any:
    """Return a fact of the new entry without what the schema had and no longer has."""
    gone = {name for absent_key, name in {*new.absent}.difference(old.absent) if absent_key == key}
    value = new.entry.get(key)
    if is_array(value):
        return [each for each in value if each not in gone] or None
    return None if gone else value


def compare_content(comparison: Comparison, old: Method, new: Method) -> Iterator[tuple[str, tuple[str, str]]]:
    """Return the rule of each part of the params that needs another capability, with the texts of both sides."""
    before, after = dict(old.content), dict(new.content)
    for part in dict.fromkeys((*before, *after)):
        if (
            before.get(part) != after.get(part)
            and has_part(comparison.old.schema, old, part)
            and (has_part(comparison.new.schema, new, part) or ("content", part) in new.absent)
        ):
            change = "changed" if part in before and part in after else "gained" if part in after else "lost"
            yield f"method-content-{change}", (_part(part, before), _part(part, after))


def compare_properties(comparison: Comparison) -> None:
    """Compare the settings that all methods share."""
    old, new = comparison.old.schema.properties, comparison.new.schema.properties
    rule = "profile-properties-changed"
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key, ""), new.get(key, "")
        if before != after:
            name, texts = comparison.profile, (f"{key} = {before}", f"{key} = {after}")
            found = Finding(rule, name, name, "", "", f"all methods, {key}", RULES[rule].verdicts, *texts, flow=BOTH)
            comparison.findings.append(found)


def _part(part: str, content: dict[str, str]) -> str:
    return f"{part}: {content[part]}" if part in content else ""


def _shown(value: Any) -> str:
    if is_object(value):
        return f"{value['by']}: {json.dumps(value['result'])}"
    return ", ".join(value) if is_array(value) else "" if value is None else str(value)
