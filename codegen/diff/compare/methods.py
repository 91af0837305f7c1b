"""What changed among methods: which there are, who handles them, what unlocks them."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.diff.compare.comparison import Comparison
from codegen.diff.compare.facts import ABOUT_RESULTS, compare_facts
from codegen.diff.compare.fits import Fits
from codegen.diff.compare.pointers import references
from codegen.diff.compare.reach import one_flow, params_flow, result_flow
from codegen.diff.match.matching import pair, similarity
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import BREAKING, Verdicts, breaks
from codegen.ir import Method, Schema

Key = tuple[str, str, bool]


@dataclass(frozen=True)
class Methods:
    """The two sides of a profile, as far as methods go."""

    comparison: Comparison
    old_unstable: Schema | None
    new_unstable: Schema | None

    def add(
        self,
        rule: str,
        before: Method | None,
        after: Method | None,
        texts: tuple[str, str] = ("", ""),
        verdicts: Verdicts | None = None,
    ) -> None:
        """Note a finding about a method."""
        comparison, method = self.comparison, after or before
        assert method is not None
        comparison.findings.append(
            Finding(
                rule=rule,
                profile=comparison.profile,
                place=method.wire,
                old=f"/$defs/{before.params}" if before else "",
                new=f"/$defs/{after.params}" if after else "",
                subject=f"{method.side} {method.wire} {_kind(method)}",
                verdicts=verdicts or RULES[rule].verdicts,
                before=texts[0],
                after=texts[1],
                symbols=_symbols(comparison, after, before),
                flow=one_flow({_flow(rule, each) for each in (before, after) if each}),
                methods=(method.wire,),
                covers=(*_places(comparison.old, before), *_places(comparison.new, after)),
            )
        )


def _flow(rule: str, method: Method) -> str:
    """Which way the messages go that a rule is about."""
    return result_flow(method) if rule in ABOUT_RESULTS else params_flow(method)


def _symbols(comparison: Comparison, *methods: Method | None) -> tuple[str, ...]:
    """The handlers, as either side calls them."""
    found = [(role, each.name) for each in methods if each for role in each.handled_by]
    return tuple(dict.fromkeys(comparison.symbol(role.capitalize(), name) for role, name in found))


def compare_methods(comparison: Comparison, old_unstable: Schema | None, new_unstable: Schema | None) -> None:
    """All methods. The unstable schemas of both sides say what moved between unstable and stable."""
    methods = Methods(comparison, old_unstable, new_unstable)
    old, new = _by_key(comparison.old.schema), _by_key(comparison.new.schema)
    gone = {key: each for key, each in old.items() if key not in new}
    come = {key: each for key, each in new.items() if key not in old}
    for rule, before, after in _paired(comparison, gone, come):
        methods.add(rule, before, after, (_shown(before), _shown(after)))
        if rule != "method-kind-changed":  # nothing of it stays
            _compare_payloads(methods, before, after)
    for method in gone.values():
        methods.add(_removed(methods, method), method, None, (_shown(method), ""))
    for method in come.values():
        methods.add(_added(methods, method), None, method, ("", _shown(method)))
    for key in [key for key in old if key in new]:
        _compare(methods, old[key], new[key])


def _by_key(schema: Schema) -> dict[Key, Method]:
    return {(each.side, each.wire, each.result is None): each for each in schema.methods}


def _paired(
    comparison: Comparison, gone: dict[Key, Method], come: dict[Key, Method]
) -> list[tuple[str, Method, Method]]:
    """Methods that went and came under another side, kind or name; they are taken out of both."""
    found: list[tuple[str, Method, Method]] = []
    for match, rule in ((_other_side, _side_rule), (_other_kind, _kind_rule)):
        for key, before in list(gone.items()):
            candidates = [each for each in come if match(key, each)]
            if len(candidates) == 1:
                found.append((rule(before, come[candidates[0]]), gone.pop(key), come.pop(candidates[0])))
    names = {_text(key): key for key in (*gone, *come)}
    renamed = pair(
        [_text(key) for key in gone],
        [_text(key) for key in come],
        lambda a, b: _same_method(comparison, gone[names[a]], come[names[b]]),
    )
    found += [("method-renamed", gone.pop(names[a]), come.pop(names[b])) for a, b in renamed.items()]
    return found


def _text(key: Key) -> str:
    return " ".join(map(str, key))


def _other_side(old: Key, new: Key) -> bool:
    return old[1:] == new[1:]


def _other_kind(old: Key, new: Key) -> bool:
    return old[:2] == new[:2]


def _side_rule(old: Method, new: Method) -> str:
    return "method-side-widened" if set(old.handled_by) < set(new.handled_by) else "method-side-changed"


def _kind_rule(_: Method, __: Method) -> str:
    return "method-kind-changed"


def _same_method(comparison: Comparison, old: Method, new: Method) -> bool:
    """The same side and kind, params and result that correspond, and a name alike."""
    same = (old.side, old.result is None) == (new.side, new.result is None)
    parts = [(old.params, new.params), (old.result or "", new.result or "")]
    return same and all(comparison.names.get(a, "") == b for a, b in parts) and similarity(old.wire, new.wire) >= 0.5


def _removed(methods: Methods, method: Method) -> str:
    if methods.new_unstable and _key(method) in _by_key(methods.new_unstable):
        return "method-left-stable"
    return "method-removed-baseline" if method.baseline else "method-removed"


def _added(methods: Methods, method: Method) -> str:
    if method.baseline:
        return "method-added-baseline"
    if methods.old_unstable and _key(method) in _by_key(methods.old_unstable):
        return "method-stabilised"
    return "method-added" if method.capability or method.result is None else "method-added-unannounced"


def _key(method: Method) -> Key:
    return (method.side, method.wire, method.result is None)


def _compare(methods: Methods, old: Method, new: Method) -> None:
    """What changed in a method that is still there."""
    _compare_payloads(methods, old, new)
    if old.capability != new.capability:
        methods.add("method-capability-changed", old, new, (old.capability or "", new.capability or ""))
    if old.baseline != new.baseline:
        methods.add("method-baseline-gained" if new.baseline else "method-baseline-lost", old, new)
    for rule, texts in compare_facts(old, new):
        methods.add(rule, old, new, texts)


def _compare_payloads(methods: Methods, old: Method, new: Method) -> None:
    """Params and results that are other definitions than before; those with a new name alone are renames."""
    names = methods.comparison.names
    if names.get(old.params) != new.params:
        verdicts = _by_structure(methods.comparison, old.params, new.params)
        methods.add("method-params-changed", old, new, (old.params, new.params), verdicts)
    if old.result and new.result and names.get(old.result) != new.result:
        verdicts = _by_structure(methods.comparison, old.result, new.result)
        methods.add("method-result-changed", old, new, (old.result, new.result), verdicts)


def _by_structure(comparison: Comparison, old: str, new: str) -> Verdicts:
    before, after = comparison.old.schema.definitions[old], comparison.new.schema.definitions[new]
    gained = not Fits(comparison.new.schema, comparison.old.schema, {}).definition(after, before)
    lost = not Fits(comparison.old.schema, comparison.new.schema, {}).definition(before, after)
    return Verdicts(breaks(gained), breaks(lost), BREAKING, BREAKING, BREAKING)


def _places(snapshot: Snapshot, method: Method | None) -> list[str]:
    """Everything that says a method is there: its params, its result, and where the messages name them."""
    if method is None:
        return []
    names = [method.params, *([method.result] if method.result else [])]
    inside = [
        (name, snapshot.raw["$defs"][name])
        for name in sorted(snapshot.schema.envelopes)
        if _is_definition(snapshot, name)
    ]
    spots = [(f"/$defs/{name}", schema) for name, schema in inside] + [("/anyOf", snapshot.raw["anyOf"])]
    found = [f"/$defs/{name}" for name in names]
    return found + [
        _node(place) for name in names for start, schema in spots for place in references(schema, name, start)
    ]


def _is_definition(snapshot: Snapshot, name: str) -> bool:
    return name in snapshot.raw["$defs"]


def _node(place: str) -> str:
    """The member of a message that a reference stands in: upstream wraps it in `allOf`."""
    return place.removesuffix("/allOf/0")


def _kind(method: Method) -> str:
    return "request" if method.result else "notification"


def _shown(method: Method) -> str:
    result = f" -> {method.result}" if method.result else ""
    return f"{method.side} {_kind(method)} {method.wire}: {method.params}{result}"
