"""Compare methods: which exist, which side handles them, and which capability they require."""

from __future__ import annotations

from codegen.diff.compare.comparison import Comparison, deprecation
from codegen.diff.compare.facts import ABOUT_RESULTS, compare_content, compare_facts
from codegen.diff.compare.reach import method_flow, one_flow
from codegen.diff.match import pair
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import Verdicts
from codegen.ir import Method, Schema

Key = tuple[str, str, bool]


def _add(
    comparison: Comparison,
    rule: str,
    before: Method | None,
    after: Method | None,
    texts: tuple[str, str] = ("", ""),
    verdicts: Verdicts | None = None,
    symbols: tuple[str, ...] = (),
) -> None:
    """Add a finding about a method. By default the verdicts are the rule's. The handlers are among the symbols."""
    method = after or before
    assert method is not None
    comparison.record(
        rule,
        method.wire,
        (f"/$defs/{before.params}" if before else "", f"/$defs/{after.params}" if after else ""),
        f"{method.side} {method.wire} {_kind(method)}",
        verdicts,
        texts,
        symbols=(*_handlers(comparison, after, before), *symbols),
        flow=one_flow({method_flow(each, result=rule in ABOUT_RESULTS) for each in (before, after) if each}),
        methods=tuple(dict.fromkeys(each.wire for each in (after, before) if each)),
    )


def _handlers(comparison: Comparison, *methods: Method | None) -> tuple[str, ...]:
    """Return the Python names of the handlers on both sides."""
    found = [(role, each.name) for each in methods if each for role in each.handled_by]
    return tuple(dict.fromkeys(comparison.symbol(role.capitalize(), name) for role, name in found))


def compare_methods(comparison: Comparison) -> None:
    """Compare all methods. The unstable schemas of both sides tell which ones became stable or unstable."""
    old, new = _by_key(comparison.old.schema), _by_key(comparison.new.schema)
    removed = {key: each for key, each in old.items() if key not in new}
    added = {key: each for key, each in new.items() if key not in old}
    for rule, before, after in _paired(comparison, removed, added):
        _add(comparison, rule, before, after, (_shown(before), _shown(after)))
        if rule == "method-renamed" and before.entry and after.table:  # otherwise the facts of one side are unknown
            _compare_facts(comparison, before, after)
        if rule != "method-kind-changed":  # a request and a notification have no payloads in common
            _compare_payloads(comparison, before, after)
    for method in removed.values():
        rule = _removed(comparison, method)
        parts = _parts(comparison, method, comparison.old.schema, set(comparison.names))
        verdicts = RULES[rule].verdicts.joined(RULES["definition-removed"].verdicts) if parts else None
        _add(comparison, rule, method, None, (_shown(method), ""), verdicts, symbols=parts)
    for method in added.values():
        parts = _parts(comparison, method, comparison.new.schema, set(comparison.names.values()))
        _add(comparison, _added(comparison, method), None, method, ("", _shown(method)), symbols=parts)
    for key in [key for key in old if key in new]:
        _compare_payloads(comparison, old[key], new[key])
        _compare_facts(comparison, old[key], new[key])


def renamed_methods(old: Snapshot, new: Snapshot) -> list[tuple[Method, Method]]:
    """Return each method of a profile that has another name now, before and after."""
    comparison = Comparison("", old, new)
    before, after = _by_key(old.schema), _by_key(new.schema)
    removed = {key: each for key, each in before.items() if key not in after}
    added = {key: each for key, each in after.items() if key not in before}
    return [(old, new) for rule, old, new in _paired(comparison, removed, added) if rule == "method-renamed"]


def _parts(comparison: Comparison, method: Method, schema: Schema, others: set[str]) -> tuple[str, ...]:
    """Return the classes of the params and the result that were added or removed with a method.

    They have no findings of their own. `others`: the definitions that are on both sides.
    """
    names = {method.params, method.result or method.params} - others
    comparison.told |= names
    return comparison.symbols(*(schema.definitions[name] for name in sorted(names)))


def _by_key(schema: Schema) -> dict[Key, Method]:
    return {_key(each): each for each in schema.methods}


def _key(method: Method) -> Key:
    return (method.side, method.wire, method.result is None)


def _paired(
    comparison: Comparison, removed: dict[Key, Method], added: dict[Key, Method]
) -> list[tuple[str, Method, Method]]:
    """Pair removed and added methods that differ only in side, kind or name, and take them out of both dicts."""
    found: list[tuple[str, Method, Method]] = []
    for part in (slice(1, None), slice(2)):  # all but the side, and all but the kind
        for key in list(removed):
            candidates = [each for each in added if each[part] == key[part]]
            if len(candidates) == 1:
                before, after = removed.pop(key), added.pop(candidates[0])
                found.append((_rule(before, after), before, after))
    renamed = pair([*removed], [*added], lambda a, b: _same_method(comparison, removed[a], added[b]))
    return [*found, *(("method-renamed", removed.pop(old), added.pop(new)) for old, new in renamed.items())]


def _rule(old: Method, new: Method) -> str:
    if old.side == new.side:
        return "method-kind-changed"
    return "method-side-widened" if set(old.handled_by) < set(new.handled_by) else "method-side-changed"


def _same_method(comparison: Comparison, old: Method, new: Method) -> bool:
    """Return whether a method was renamed: the same side and kind, and corresponding params and result."""
    same = (old.side, old.result is None) == (new.side, new.result is None)
    parts = [(old.params, new.params), (old.result or "", new.result or "")]
    return same and all(comparison.names.get(a, "") == b for a, b in parts)


def _removed(comparison: Comparison, method: Method) -> str:
    if comparison.new_unstable and _key(method) in _by_key(comparison.new_unstable):
        return "method-left-stable"
    return "method-removed-baseline" if method.baseline else "method-removed"


def _added(comparison: Comparison, method: Method) -> str:
    if method.baseline:
        return "method-added-baseline"
    if comparison.old_unstable and _key(method) in _by_key(comparison.old_unstable):
        return "method-stabilised"
    if method.capability:
        return "method-added"
    return "method-added-notification" if method.result is None else "method-added-unannounced"


def _compare_facts(comparison: Comparison, old: Method, new: Method) -> None:
    """Compare what `methods.toml` says about a method."""
    if old.capability != new.capability:
        texts = (old.capability or "", new.capability or "")
        _add(comparison, "method-capability-changed", old, new, texts)
    if old.baseline != new.baseline:
        _add(comparison, "method-baseline-gained" if new.baseline else "method-baseline-lost", old, new)
    if old.deprecated != new.deprecated:
        _add(comparison, "method-deprecated", old, new, deprecation(old, new))
    for rule, texts in (*compare_content(comparison, old, new), *compare_facts(old, new)):
        _add(comparison, rule, old, new, texts)


def _compare_payloads(comparison: Comparison, old: Method, new: Method) -> None:
    """Find params and results that are a different definition now. A renamed definition is not a different one."""
    for part, before, after in (("params", old.params, new.params), ("result", old.result, new.result)):
        if before and after and comparison.names.get(before) != after:
            verdicts = comparison.by_structure(before, after, Verdicts.of("SSBBB"))
            _add(comparison, f"method-{part}-changed", old, new, (before, after), verdicts)


def _kind(method: Method) -> str:
    return "request" if method.result else "notification"


def _shown(method: Method) -> str:
    result = f", result {method.result}" if method.result else ""
    return f"{method.side} {_kind(method)} {method.wire}: params {method.params}{result}"
