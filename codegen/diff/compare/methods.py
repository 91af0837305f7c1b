"""Compare methods: which exist, which side handles them, and which capability they require."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from codegen.diff.compare.comparison import Comparison
from codegen.diff.compare.compatibility import Compatibility
from codegen.diff.compare.facts import ABOUT_RESULTS, compare_content, compare_facts
from codegen.diff.compare.pointers import references
from codegen.diff.compare.reach import one_flow, params_flow, result_flow
from codegen.diff.match.renames import pair, similar
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import Finding, Renamed
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import BREAKING, Verdicts, breaks
from codegen.ir import Method, Schema

Key = tuple[str, str, bool]


@dataclass(frozen=True)
class MethodComparison:
    """The comparison of a profile's methods."""

    comparison: Comparison
    old_unstable: Schema | None
    new_unstable: Schema | None

    @cached_property
    def old_references(self) -> dict[str, list[str]]:
        return _references_in_messages(self.comparison.old)

    @cached_property
    def new_references(self) -> dict[str, list[str]]:
        return _references_in_messages(self.comparison.new)

    def add(
        self,
        rule: str,
        before: Method | None,
        after: Method | None,
        texts: tuple[str, str] = ("", ""),
        verdicts: Verdicts | None = None,
        renamed: Renamed | None = None,
    ) -> None:
        """Add a finding about a method."""
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
                renamed=renamed,
                covers=(*_places(self.old_references, before), *_places(self.new_references, after)),
            )
        )


def _flow(rule: str, method: Method) -> str:
    """Return the direction of the messages that a rule is about."""
    return result_flow(method) if rule in ABOUT_RESULTS else params_flow(method)


def _symbols(comparison: Comparison, *methods: Method | None) -> tuple[str, ...]:
    """Return the Python names of the handlers on both sides."""
    found = [(role, each.name) for each in methods if each for role in each.handled_by]
    return tuple(dict.fromkeys(comparison.symbol(role.capitalize(), name) for role, name in found))


def compare_methods(comparison: Comparison, old_unstable: Schema | None, new_unstable: Schema | None) -> None:
    """Compare all methods. The unstable schemas of both sides tell which ones became stable or unstable."""
    methods = MethodComparison(comparison, old_unstable, new_unstable)
    old, new = _by_key(comparison.old.schema), _by_key(comparison.new.schema)
    removed = {key: each for key, each in old.items() if key not in new}
    added = {key: each for key, each in new.items() if key not in old}
    for rule, before, after in _paired(comparison, removed, added):
        renamed = _renamed(before, after) if rule == "method-renamed" else None
        verdicts = RULES[rule].verdicts.kept() if renamed and renamed.until else None
        methods.add(rule, before, after, (_shown(before), _shown(after)), verdicts, renamed)
        if renamed:
            _compare_old_names(methods, before, after)
            if before.entry:  # otherwise the base's facts are unknown
                _compare_facts(methods, before, after)
        if rule != "method-kind-changed":  # a request and a notification have no payloads in common
            _compare_payloads(methods, before, after)
    for method in removed.values():
        methods.add(_removed(methods, method), method, None, (_shown(method), ""))
    for method in added.values():
        methods.add(_added(methods, method), None, method, ("", _shown(method)))
    for key in [key for key in old if key in new]:
        _compare(methods, old[key], new[key])
        _compare_old_names(methods, old[key], new[key])


def _renamed(before: Method, after: Method) -> Renamed:
    """Return the change of a method's name, and how long the head keeps the old one."""
    until = next((each.until for each in after.old_names if each.wire == before.wire), "")
    return Renamed("method", after.side, before.wire, after.wire, until)


def _by_key(schema: Schema) -> dict[Key, Method]:
    return {(each.side, each.wire, each.result is None): each for each in schema.methods}


def _paired(
    comparison: Comparison, removed: dict[Key, Method], added: dict[Key, Method]
) -> list[tuple[str, Method, Method]]:
    """Pair removed and added methods that differ only in side, kind or name, and take them out of both dicts."""
    found: list[tuple[str, Method, Method]] = []
    for match, rule in ((_other_side, _side_rule), (_other_kind, _kind_rule)):
        for key, before in list(removed.items()):
            candidates = [each for each in added if match(key, each)]
            if len(candidates) == 1:
                found.append((rule(before, added[candidates[0]]), removed.pop(key), added.pop(candidates[0])))
    kept = {(new[0], each.wire, new[2]): new for new, method in added.items() for each in method.old_names}
    found += [("method-renamed", removed.pop(old), added.pop(new)) for old, new in kept.items() if old in removed]
    names = {_text(key): key for key in (*removed, *added)}
    renamed = pair(
        [_text(key) for key in removed],
        [_text(key) for key in added],
        lambda a, b: _same_method(comparison, removed[names[a]], added[names[b]]),
    )
    found += [("method-renamed", removed.pop(names[a]), added.pop(names[b])) for a, b in renamed.items()]
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
    """Return whether a method was renamed: same side and kind, corresponding params and result, and further evidence.

    The evidence is a similar name, or that the params are the same definition, which belongs to one method only.
    """
    same = (old.side, old.result is None) == (new.side, new.result is None)
    parts = [(old.params, new.params), (old.result or "", new.result or "")]
    correspond = all(comparison.names.get(a, "") == b for a, b in parts)
    return same and correspond and (old.params == new.params or similar(old.wire, new.wire))


def _removed(methods: MethodComparison, method: Method) -> str:
    if methods.new_unstable and _key(method) in _by_key(methods.new_unstable):
        return "method-left-stable"
    return "method-removed-baseline" if method.baseline else "method-removed"


def _added(methods: MethodComparison, method: Method) -> str:
    if method.baseline:
        return "method-added-baseline"
    if methods.old_unstable and _key(method) in _by_key(methods.old_unstable):
        return "method-stabilised"
    return "method-added" if method.capability or method.result is None else "method-added-unannounced"


def _key(method: Method) -> Key:
    return (method.side, method.wire, method.result is None)


def _compare(methods: MethodComparison, old: Method, new: Method) -> None:
    """Compare a method that exists on both sides."""
    _compare_payloads(methods, old, new)
    _compare_facts(methods, old, new)


def _compare_facts(methods: MethodComparison, old: Method, new: Method) -> None:
    """Compare what `methods.toml` says about a method."""
    if old.capability != new.capability:
        methods.add("method-capability-changed", old, new, (old.capability or "", new.capability or ""))
    if old.baseline != new.baseline:
        methods.add("method-baseline-gained" if new.baseline else "method-baseline-lost", old, new)
    for rule, texts in (*compare_content(methods.comparison, old, new), *compare_facts(old, new)):
        methods.add(rule, old, new, texts)


def _compare_old_names(methods: MethodComparison, old: Method, new: Method) -> None:
    """Find old names of a method that the base keeps and the head doesn't."""
    kept = {new.name, *(each.name for each in new.old_names)}
    for each in old.old_names:
        if each.name not in kept:
            methods.add("method-old-name-removed", replace(old, name=each.name), new, (f"{each.wire}: {each.name}", ""))


def _compare_payloads(methods: MethodComparison, old: Method, new: Method) -> None:
    """Find params and results that are a different definition now. A renamed definition is not a different one."""
    names = methods.comparison.names
    if names.get(old.params) != new.params:
        verdicts = _by_structure(methods.comparison, old.params, new.params)
        methods.add("method-params-changed", old, new, (old.params, new.params), verdicts)
    if old.result and new.result and names.get(old.result) != new.result:
        verdicts = _by_structure(methods.comparison, old.result, new.result)
        methods.add("method-result-changed", old, new, (old.result, new.result), verdicts)


def _by_structure(comparison: Comparison, old: str, new: str) -> Verdicts:
    before, after = comparison.old.schema.definitions[old], comparison.new.schema.definitions[new]
    gained = not Compatibility(comparison.new.schema, comparison.old.schema, {}).definition(after, before)
    lost = not Compatibility(comparison.old.schema, comparison.new.schema, {}).definition(before, after)
    return Verdicts(breaks(gained), breaks(lost), BREAKING, BREAKING, BREAKING)


def _references_in_messages(snapshot: Snapshot) -> dict[str, list[str]]:
    """Return the pointers of the references in whole messages, by definition."""
    definitions = snapshot.raw["$defs"]
    whole = {name: definitions[name] for name in sorted(snapshot.schema.envelopes) if name in definitions}
    return references({"$defs": whole, "anyOf": snapshot.raw["anyOf"]})


def _places(in_messages: dict[str, list[str]], method: Method | None) -> list[str]:
    """Return the pointers at which the schema defines a method: its params, its result, and references to them."""
    if method is None:
        return []
    names = [method.params, *([method.result] if method.result else [])]
    found = [f"/$defs/{name}" for name in names]
    return found + [_node(place) for name in names for place in in_messages.get(name, ())]


def _node(place: str) -> str:
    """Return the pointer of the message's member that contains a reference; upstream wraps references in `allOf`."""
    return place.removesuffix("/allOf/0")


def _kind(method: Method) -> str:
    return "request" if method.result else "notification"


def _shown(method: Method) -> str:
    result = f" -> {method.result}" if method.result else ""
    return f"{method.side} {_kind(method)} {method.wire}: {method.params}{result}"
