"""Compare methods: which exist, which side handles them, and which capability they require."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from codegen.diff.compare.comparison import Comparison
from codegen.diff.compare.facts import ABOUT_RESULTS, compare_content, compare_facts
from codegen.diff.compare.reach import method_flow, one_flow
from codegen.diff.compare.witness import Samples
from codegen.diff.match.renames import pair
from codegen.diff.verdict.findings import Finding, Renamed
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import BREAKING, Verdicts
from codegen.ir import Method, Schema
from codegen.values import as_json, keywords

Key = tuple[str, str, bool]


def _add(
    comparison: Comparison,
    rule: str,
    before: Method | None,
    after: Method | None,
    texts: tuple[str, str] = ("", ""),
    verdicts: Verdicts | None = None,
    renamed: Renamed | None = None,
    symbols: tuple[str, ...] = (),
    payload: str = "params",
) -> None:
    """Add a finding about a method. By default the verdicts are the rule's. The handlers are among the symbols.

    `payload`: the part of the method that the messages of the finding show.
    """
    method = after or before
    assert method is not None
    judged = verdicts or RULES[rule].verdicts
    comparison.findings.append(
        Finding(
            rule=rule,
            profile=comparison.profile,
            place=method.wire,
            old=f"/$defs/{before.params}" if before else "",
            new=f"/$defs/{after.params}" if after else "",
            subject=f"{method.side} {method.wire} {_kind(method)}",
            verdicts=judged,
            before=texts[0],
            after=texts[1],
            symbols=(*_handlers(comparison, after, before), *symbols),
            flow=one_flow({method_flow(each, result=rule in ABOUT_RESULTS) for each in (before, after) if each}),
            methods=(method.wire,),
            renamed=renamed,
            refused=(
                _message(comparison.new_samples, after, payload) if judged.old_peer is BREAKING else "",
                _message(comparison.old_samples, before, payload) if judged.new_peer is BREAKING else "",
            ),
            code=tuple(_code(comparison, before, after, judged)),
        )
    )


def _message(samples: Samples, method: Method | None, payload: str) -> str:
    """Return the smallest params or result of a method, as a message."""
    name = getattr(method, payload, None)
    if method is None or name is None:
        return ""
    head = {"method": method.wire} if payload == "params" else {}
    return json.dumps({**head, payload: as_json(samples.smallest(name))})


def _code(comparison: Comparison, before: Method | None, after: Method | None, verdicts: Verdicts) -> Iterator[str]:
    """Yield the smallest code that no longer works: a call, a handler, a class without a handler."""
    if before and verdicts.build is BREAKING:
        fields = comparison.old_samples.smallest(before.params).fields
        role = before.handled_by[0]
        call = keywords([each for each in fields if each[0].tag is None])
        yield f"await {role}.{before.name}({call})  # {role}: Remote{role.capitalize()}"
    if verdicts.implement is BREAKING and (method := after or before):
        role = method.handled_by[0].capitalize()
        if before and (after is None or after.name != before.name):
            signature = f"{before.name}(self, request: {before.params}, /) -> {before.result}"
            yield f"async def {signature}: ...  # overrides {role}.{before.name}"
        elif after and after.baseline:
            yield f"Handler()  # a class of {role} that doesn't override {after.name}"


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
        renamed = _renamed(before, after) if rule == "method-renamed" else None
        verdicts = RULES[rule].verdicts.kept() if renamed and renamed.until else None
        _add(comparison, rule, before, after, (_shown(before), _shown(after)), verdicts, renamed)
        if renamed:
            _compare_old_names(comparison, before, after)
            if before.entry:  # otherwise the base's facts are unknown
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
        _compare_old_names(comparison, old[key], new[key])


def _parts(comparison: Comparison, method: Method, schema: Schema, others: set[str]) -> tuple[str, ...]:
    """Return the classes of the params and the result that were added or removed with a method.

    They have no findings of their own. `others`: the definitions that are on both sides.
    """
    names = {method.params, method.result or method.params} - others
    comparison.told |= names
    return comparison.symbols(*(schema.definitions[name] for name in sorted(names)))


def _renamed(before: Method, after: Method) -> Renamed:
    """Return the change of a method's name, and how long the head keeps the old one."""
    until = next((each.until for each in after.old_names if each.wire == before.wire), "")
    return Renamed("method", after.side, before.wire, after.wire, until)


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
    kept = {(new[0], each.wire, new[2]): new for new, method in added.items() for each in method.old_names}
    renamed = {old: new for old, new in kept.items() if old in removed}
    others = [key for key in removed if key not in renamed], [key for key in added if key not in renamed.values()]
    renamed |= pair(*others, lambda a, b: _same_method(comparison, removed[a], added[b]))
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
    for rule, texts in (*compare_content(comparison, old, new), *compare_facts(old, new)):
        _add(comparison, rule, old, new, texts)


def _compare_old_names(comparison: Comparison, old: Method, new: Method) -> None:
    """Find old names of a method that the base keeps and the head doesn't."""
    kept = {new.name, *(each.name for each in new.old_names)}
    for each in old.old_names:
        if each.name not in kept:
            before, texts = replace(old, name=each.name), (f"{each.wire}: {each.name}", "")
            _add(comparison, "method-old-name-removed", before, new, texts)


def _compare_payloads(comparison: Comparison, old: Method, new: Method) -> None:
    """Find params and results that are a different definition now. A renamed definition is not a different one."""
    for part, before, after in (("params", old.params, new.params), ("result", old.result, new.result)):
        if before and after and comparison.names.get(before) != after:
            verdicts = comparison.by_structure(before, after, Verdicts.of("SSBBB"))
            _add(comparison, f"method-{part}-changed", old, new, (before, after), verdicts, payload=part)


def _kind(method: Method) -> str:
    return "request" if method.result else "notification"


def _shown(method: Method) -> str:
    result = f", result {method.result}" if method.result else ""
    return f"{method.side} {_kind(method)} {method.wire}: params {method.params}{result}"
