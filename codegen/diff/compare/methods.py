"""Compares methods: which exist, which side handles them, and what `methods.toml` says about them.

A fact about an added property is not a finding, because the property itself is one. A fact about a property that the
schema has lost is a finding, because the bindings no longer act on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from codegen.diff.compare.comparison import Comparison, note_deprecation
from codegen.diff.compare.places import find_capabilities, find_changed_facts
from codegen.diff.compare.reach import combine_flows, method_flow
from codegen.diff.match import pair
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import BOTH
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import BREAKING, Verdicts
from codegen.ir import Method, Schema
from codegen.nodes import is_object

Key = tuple[str, str, str]
# The keys of an entry of `methods.toml` that are compared as facts.
_FACTS = ("opens", "creates", "ends", "exempt", "gone", "cancels", "cancelled", "interactive", "accepted")
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
    in_result: bool = False,
) -> None:
    """Add a finding about a method.

    By default the verdicts are the rule's, and the refused messages are calls of the method. The handlers are added to
    the symbols.
    """
    method = after or before
    assert method is not None
    present = [side for side in (after, before) if side]
    comparison.record(
        rule=rule,
        place=method.wire,
        pointers=(f"/$defs/{before.params}" if before else "", f"/$defs/{after.params}" if after else ""),
        subject=f"{method.side} {method.wire} {method.kind}",
        verdicts=verdicts,
        texts=texts,
        symbols=(*_name_handlers(comparison, present), *symbols),
        flow=combine_flows({method_flow(side, result=in_result or rule in _ABOUT_RESULTS) for side in present}),
        methods=tuple(dict.fromkeys(side.wire for side in present)),
        find_refused=find_refused
        or (lambda: (comparison.new_sender.write_call(after), comparison.old_sender.write_call(before))),
    )


def _name_handlers(comparison: Comparison, methods: list[Method]) -> tuple[str, ...]:
    """Return the Python names of the methods' handlers."""
    handlers = [(role, method.name) for method in methods for role in method.handled_by]
    return tuple(dict.fromkeys(comparison.python_name(role.capitalize(), name) for role, name in handlers))


def compare_methods(comparison: Comparison) -> None:
    """Compare all methods. The unstable schemas of both sides say which ones became stable or unstable."""
    pairs, removed, added = _match_methods(comparison)
    for rule, before, after in pairs:
        _compare_pair(comparison, rule, before, after)
    for method in removed:
        _add_removed(comparison, method)
    for method in added:
        _add_added(comparison, method)


def _compare_pair(comparison: Comparison, rule: str, before: Method, after: Method) -> None:
    """Compare a method of both sides. `rule` is for their difference in side, kind or name; empty if there is none."""
    if rule:
        _add_finding(comparison, rule, before, after, texts=(_describe(before), _describe(after)))
    # Facts without an entry are unknown, except that the base's entry of a renamed method may be gone.
    if after.table and (rule == "method-renamed" or (not rule and before.table)):
        for changed, texts in _find_changed_facts(before, after):
            _add_finding(comparison, changed, before, after, texts=texts)
        for changed, texts, in_result in find_changed_facts(
            comparison.old.schema, comparison.new.schema, comparison.new_unstable, before, after
        ):
            _add_finding(comparison, changed, before, after, texts=texts, in_result=in_result)
    if rule != "method-kind-changed":  # a request and a notification have no payloads in common
        _compare_payloads(comparison, before, after)


def _add_removed(comparison: Comparison, method: Method) -> None:
    """Add the finding about a removed method and its classes."""
    rule = _choose_rule_for_removed(comparison, method)
    classes = _take_classes(comparison, method, comparison.old.schema, set(comparison.names))
    verdicts = RULES[rule].verdicts
    if classes:
        verdicts = verdicts.joined(RULES["definition-removed"].verdicts)
    if _is_unannounced(comparison, method):
        verdicts = verdicts._replace(new_peer=BREAKING)
    _add_finding(comparison, rule, method, None, texts=(_describe(method), ""), verdicts=verdicts, symbols=classes)


def _add_added(comparison: Comparison, method: Method) -> None:
    """Add the finding about an added method and its classes."""
    rule = _choose_rule_for_added(comparison, method)
    classes = _take_classes(comparison, method, comparison.new.schema, set(comparison.names.values()))
    _add_finding(comparison, rule, None, method, texts=("", _describe(method)), symbols=classes)


def find_renamed_methods(old: Snapshot, new: Snapshot) -> list[tuple[Method, Method]]:
    """Return the renamed methods of a profile, before and after."""
    pairs, _, _ = _match_methods(Comparison("", old, new, Schema({}), Schema({})))
    return [(before, after) for rule, before, after in pairs if rule == "method-renamed"]


def _take_classes(comparison: Comparison, method: Method, schema: Schema, matched: set[str]) -> tuple[str, ...]:
    """Return the classes of the params and the result that were added or removed with a method.

    They get no findings of their own. `matched` are the definitions that are on both sides.
    """
    names = {method.params, method.result or method.params} - matched
    comparison.named_by_methods |= names
    return comparison.python_names(*(schema.definitions[name] for name in sorted(names)))


def _by_key(schema: Schema) -> dict[Key, Method]:
    return {method.key: method for method in schema.methods}


def _match_methods(comparison: Comparison) -> tuple[list[tuple[str, Method, Method]], list[Method], list[Method]]:
    """Return the methods of both sides in pairs, the removed methods, and the added methods.

    Each pair comes after the rule for its difference in side, kind or name; empty if there is no such difference.
    """
    removed, added = _by_key(comparison.old.schema), _by_key(comparison.new.schema)
    pairs = [("", removed.pop(key), added.pop(key)) for key in list(removed) if key in added]
    without_side, without_kind = slice(1, None), slice(2)
    for part in (without_side, without_kind):
        for key in list(removed):
            candidates = [candidate for candidate in added if candidate[part] == key[part]]
            if len(candidates) == 1:
                before, after = removed.pop(key), added.pop(candidates[0])
                pairs.append((_choose_rule_for_changed_key(before, after), before, after))
    renamed = pair(list(removed), list(added), lambda a, b: _is_same_method(comparison, removed[a], added[b]))
    pairs += [("method-renamed", removed.pop(old), added.pop(new)) for old, new in renamed.items()]
    return pairs, list(removed.values()), list(added.values())


def _choose_rule_for_changed_key(old: Method, new: Method) -> str:
    if old.side == new.side:
        return "method-kind-changed"
    before, after = set(old.handled_by), set(new.handled_by)
    if before < after:
        return "method-side-widened"
    if before > after:
        return "method-side-narrowed"
    return "method-side-changed"


def _is_same_method(comparison: Comparison, old: Method, new: Method) -> bool:
    """Return whether a method was renamed: the same side and kind, and matching params and result."""
    if (old.side, old.kind) != (new.side, new.kind):
        return False
    payloads = [(old.params, new.params), (old.result or "", new.result or "")]
    return all(comparison.names.get(before, "") == after for before, after in payloads)


def _choose_rule_for_removed(comparison: Comparison, method: Method) -> str:
    if method.key in _by_key(comparison.new_unstable):
        return "method-left-stable"
    if method.baseline:
        return "method-removed-baseline"
    if _is_unannounced(comparison, method):
        return "method-removed-unannounced"
    return "method-removed" if method.result else "method-removed-notification"


def _is_unannounced(comparison: Comparison, method: Method) -> bool:
    """Return whether old peers may still call a removed method: a request that no removed capability unlocked."""
    if method.result is None:
        return False
    return method.capability is None or method.capability in find_capabilities(comparison.new.schema, method.side)


def _choose_rule_for_added(comparison: Comparison, method: Method) -> str:
    if method.baseline:
        return "method-added-baseline"
    if method.key in _by_key(comparison.old_unstable):
        return "method-stabilised"
    if method.capability:
        return "method-added"
    return "method-added-notification" if method.result is None else "method-added-unannounced"


def _compare_payloads(comparison: Comparison, old: Method, new: Method) -> None:
    """Find params and results that are a different definition now. A renamed definition is not a different one."""
    for part, before, after in (("params", old.params, new.params), ("result", old.result, new.result)):
        if before and after and comparison.names.get(before) != after:
            rule = f"method-{part}-changed"
            old_definition = comparison.old.schema.definitions[before]
            new_definition = comparison.new.schema.definitions[after]
            _add_finding(
                comparison,
                rule,
                old,
                new,
                texts=(before, after),
                verdicts=comparison.rate_replacement(rule, before, after),
                find_refused=partial(comparison.find_refused, old_definition, new_definition),
            )


def _describe(method: Method) -> str:
    result = f", result {method.result}" if method.result else ""
    return f"{method.side} {method.kind} {method.wire}: params {method.params}{result}"


def _find_changed_facts(old: Method, new: Method) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the rules for changed facts, with the texts of both sides."""
    if old.capability != new.capability:
        yield "method-capability-changed", (old.capability or "", new.capability or "")
    if old.baseline != new.baseline:
        yield "method-baseline-gained" if new.baseline else "method-baseline-lost", ("", "")
    if old.deprecated != new.deprecated:
        yield "method-deprecated", note_deprecation(old, new)
    for key in _FACTS:
        before, after = old.entry.get(key), _drop_lost_names(key, old, new)
        if before != after and old.facts.get(key) != new.facts.get(key):
            yield f"method-{key}-changed", (_show_fact(before), _show_fact(after))


def _drop_lost_names(key: str, old: Method, new: Method) -> Any:
    """Return a fact of the new entry; None if it names something that the schema has lost."""
    lost_keys = {missing_key for missing_key, _ in set(new.missing) - set(old.missing)}
    return None if key in lost_keys else new.entry.get(key)


def compare_properties(comparison: Comparison) -> None:
    """Compare the settings that all methods share."""
    old, new = comparison.old.schema.properties, comparison.new.schema.properties
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key, ""), new.get(key, "")
        if before != after:
            comparison.record(
                rule="profile-properties-changed",
                place=comparison.profile,
                pointers=("", ""),
                subject=f"all methods, {key}",
                texts=(f"{key} = {before}", f"{key} = {after}"),
                flow=BOTH,
            )


def _show_fact(value: Any) -> str:
    if is_object(value):
        details = [json.dumps(detail) for key, detail in value.items() if key not in ("by", "by_id")]
        return ": ".join(filter(None, (value["by"], ", ".join(details))))
    return "" if value is None else str(value)
