"""Compare methods: which exist, which side handles them, and what `methods.toml` says about them.

A fact about a property that the schema added is not a finding here, because the property itself is one. A fact that
names what the schema no longer has is one, because the bindings no longer act on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from codegen.data.resolve import has_part
from codegen.diff.compare.comparison import Comparison, deprecation_texts
from codegen.diff.compare.reach import combine_flows, method_flow
from codegen.diff.match import pair
from codegen.diff.method_facts import FACTS
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import BOTH
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import Verdicts
from codegen.ir import Method, Schema
from codegen.nodes import is_array, is_object

Key = tuple[str, str, bool]
# The rules about facts that concern the method's result.
_ABOUT_RESULTS = frozenset(f"method-{key}-changed" for key in ("creates", "ends", "gone"))


def _add_finding(
    comparison: Comparison,
    rule: str,
    before: Method | None,
    after: Method | None,
    texts: tuple[str, str] = ("", ""),
    verdicts: Verdicts | None = None,
    symbols: tuple[str, ...] = (),
    find_refused: Callable[[], tuple[str, str]] | None = None,
) -> None:
    """Add a finding about a method. By default the verdicts are the rule's, and the messages that are refused calls.

    The handlers are among the symbols.
    """
    method, verdicts = after or before, verdicts or RULES[rule].verdicts
    assert method is not None
    comparison.record(
        rule,
        method.wire,
        (f"/$defs/{before.params}" if before else "", f"/$defs/{after.params}" if after else ""),
        f"{method.side} {method.wire} {_kind(method)}",
        verdicts,
        texts,
        symbols=(*_handlers(comparison, after, before), *symbols),
        flow=combine_flows({method_flow(side, result=rule in _ABOUT_RESULTS) for side in (before, after) if side}),
        methods=tuple(dict.fromkeys(side.wire for side in (after, before) if side)),
        find_refused=find_refused or (lambda: (comparison.new_sender.call(after), comparison.old_sender.call(before))),
    )


def _handlers(comparison: Comparison, *methods: Method | None) -> tuple[str, ...]:
    """Return the Python names of the handlers on both sides."""
    handlers = [(role, method.name) for method in methods if method for role in method.handled_by]
    return tuple(dict.fromkeys(comparison.symbol(role.capitalize(), name) for role, name in handlers))


def compare_methods(comparison: Comparison) -> None:
    """Compare all methods. The unstable schemas of both sides tell which ones became stable or unstable."""
    pairs, removed, added = _match_methods(comparison)
    for rule, before, after in pairs:
        if rule:
            _add_finding(comparison, rule, before, after, (_describe(before), _describe(after)))
        # The facts of one side of a renamed method may be unknown.
        if not rule or (rule == "method-renamed" and before.entry and after.table):
            for changed, texts in _find_changed_facts(comparison, before, after):
                _add_finding(comparison, changed, before, after, texts)
        if rule != "method-kind-changed":  # a request and a notification have no payloads in common
            _compare_payloads(comparison, before, after)
    for method in removed:
        rule = _rule_for_removed(comparison, method)
        parts = _take_classes(comparison, method, comparison.old.schema, set(comparison.names))
        verdicts = RULES[rule].verdicts.joined(RULES["definition-removed"].verdicts) if parts else None
        _add_finding(comparison, rule, method, None, (_describe(method), ""), verdicts, symbols=parts)
    for method in added:
        parts = _take_classes(comparison, method, comparison.new.schema, set(comparison.names.values()))
        _add_finding(
            comparison, _rule_for_added(comparison, method), None, method, ("", _describe(method)), symbols=parts
        )


def find_renamed_methods(old: Snapshot, new: Snapshot) -> list[tuple[Method, Method]]:
    """Return each method of a profile that has another name now, before and after."""
    pairs, _, _ = _match_methods(Comparison("", old, new, Schema({}), Schema({})))
    return [(before, after) for rule, before, after in pairs if rule == "method-renamed"]


def _take_classes(comparison: Comparison, method: Method, schema: Schema, others: set[str]) -> tuple[str, ...]:
    """Return the classes of the params and the result that were added or removed with a method.

    They have no findings of their own. `others`: the definitions that are on both sides.
    """
    names = {method.params, method.result or method.params} - others
    comparison.told |= names
    return comparison.symbols(*(schema.definitions[name] for name in sorted(names)))


def _by_key(schema: Schema) -> dict[Key, Method]:
    return {_key(method): method for method in schema.methods}


def _key(method: Method) -> Key:
    return (method.side, method.wire, method.result is None)


def _match_methods(comparison: Comparison) -> tuple[list[tuple[str, Method, Method]], list[Method], list[Method]]:
    """Return the methods on both sides with the rule about what they differ in (side, kind or name), and the others."""
    removed, added = _by_key(comparison.old.schema), _by_key(comparison.new.schema)
    pairs = [("", removed.pop(key), added.pop(key)) for key in [*removed] if key in added]
    for part in (slice(1, None), slice(2)):  # all but the side, and all but the kind
        for key in [*removed]:
            candidates = [candidate for candidate in added if candidate[part] == key[part]]
            if len(candidates) == 1:
                before, after = removed.pop(key), added.pop(candidates[0])
                pairs.append((_rule_for_changed_key(before, after), before, after))
    renamed = pair([*removed], [*added], lambda a, b: _same_method(comparison, removed[a], added[b]))
    pairs += [("method-renamed", removed.pop(old), added.pop(new)) for old, new in renamed.items()]
    return pairs, [*removed.values()], [*added.values()]


def _rule_for_changed_key(old: Method, new: Method) -> str:
    if old.side == new.side:
        return "method-kind-changed"
    return "method-side-widened" if set(old.handled_by) < set(new.handled_by) else "method-side-changed"


def _same_method(comparison: Comparison, old: Method, new: Method) -> bool:
    """Return whether a method was renamed: the same side and kind, and corresponding params and result."""
    same = (old.side, old.result is None) == (new.side, new.result is None)
    parts = [(old.params, new.params), (old.result or "", new.result or "")]
    return same and all(comparison.names.get(a, "") == b for a, b in parts)


def _rule_for_removed(comparison: Comparison, method: Method) -> str:
    if _key(method) in _by_key(comparison.new_unstable):
        return "method-left-stable"
    return "method-removed-baseline" if method.baseline else "method-removed"


def _rule_for_added(comparison: Comparison, method: Method) -> str:
    if method.baseline:
        return "method-added-baseline"
    if _key(method) in _by_key(comparison.old_unstable):
        return "method-stabilised"
    if method.capability:
        return "method-added"
    return "method-added-notification" if method.result is None else "method-added-unannounced"


def _compare_payloads(comparison: Comparison, old: Method, new: Method) -> None:
    """Find params and results that are a different definition now. A renamed definition is not a different one."""
    for part, before, after in (("params", old.params, new.params), ("result", old.result, new.result)):
        if before and after and comparison.names.get(before) != after:
            rule, texts = f"method-{part}-changed", (before, after)
            one, other = comparison.old.schema.definitions[before], comparison.new.schema.definitions[after]
            refused = partial(comparison.refused, one, other)
            _add_finding(
                comparison, rule, old, new, texts, comparison.by_structure(rule, before, after), find_refused=refused
            )


def _kind(method: Method) -> str:
    return "request" if method.result else "notification"


def _describe(method: Method) -> str:
    result = f", result {method.result}" if method.result else ""
    return f"{method.side} {_kind(method)} {method.wire}: params {method.params}{result}"


def _find_changed_facts(comparison: Comparison, old: Method, new: Method) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the rule of each fact about a method that changed, with the texts of both sides."""
    if old.capability != new.capability:
        yield "method-capability-changed", (old.capability or "", new.capability or "")
    if old.baseline != new.baseline:
        yield "method-baseline-gained" if new.baseline else "method-baseline-lost", ("", "")
    if old.deprecated != new.deprecated:
        yield "method-deprecated", deprecation_texts(old, new)
    yield from _find_changed_content(comparison, old, new)
    old_facts, new_facts = dict(old.facts), dict(new.facts)
    for key in FACTS:
        before, after = old.entry.get(key), _kept(key, old, new)
        if before != after and old_facts.get(key) != new_facts.get(key):
            yield f"method-{key}-changed", (_show_fact(before), _show_fact(after))


def _kept(key: str, old: Method, new: Method) -> Any:
    """Return a fact of the new entry without what the schema had and no longer has."""
    gone = {name for missing_key, name in {*new.missing}.difference(old.missing) if missing_key == key}
    value = new.entry.get(key)
    if is_array(value):
        return [name for name in value if name not in gone] or None
    return None if gone else value


def _find_changed_content(comparison: Comparison, old: Method, new: Method) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the rule of each part of the params that needs another capability, with the texts of both sides."""
    before, after = dict(old.content), dict(new.content)
    for part in dict.fromkeys((*before, *after)):
        if (
            before.get(part) != after.get(part)
            and has_part(comparison.old.schema, old, part)
            and (has_part(comparison.new.schema, new, part) or ("content", part) in new.missing)
        ):
            change = "changed" if part in before and part in after else "gained" if part in after else "lost"
            yield f"method-content-{change}", (_show_part(part, before), _show_part(part, after))


def compare_properties(comparison: Comparison) -> None:
    """Compare the settings that all methods share."""
    old, new = comparison.old.schema.properties, comparison.new.schema.properties
    rule = "profile-properties-changed"
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key, ""), new.get(key, "")
        if before != after:
            texts = (f"{key} = {before}", f"{key} = {after}")
            comparison.record(rule, comparison.profile, ("", ""), f"all methods, {key}", texts=texts, flow=BOTH)


def _show_part(part: str, content: dict[str, str]) -> str:
    return f"{part}: {content[part]}" if part in content else ""


def _show_fact(value: Any) -> str:
    if is_object(value):
        return f"{value['by']}: {json.dumps(value['result'])}"
    return ", ".join(value) if is_array(value) else "" if value is None else str(value)
