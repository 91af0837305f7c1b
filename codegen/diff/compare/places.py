"""Compares the facts about places in messages, and finds which new parts of messages need a new capability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.data.places import Place, Places
from codegen.data.resolve import ADVERTISED_IN, find_capability_paths
from codegen.ir import Method, PlaceFact, Schema

# The kinds of facts, with the rules for a place that gains or loses one.
_RULES = {
    "Needs": ("method-needs-gained", "method-needs-lost"),
    "Absolute": ("method-absolute-gained", "method-absolute-lost"),
    "Unsupported": ("method-unsupported-gained", "method-unsupported-lost"),
}


@dataclass(frozen=True)
class ChangedFact:
    """A fact about a place that differs between two methods.

    Attributes:
        rule: the kind of change.
        before: the old fact as text; empty if there was none.
        after: the new fact as text; empty if there is none.
        in_result: whether the place is in the result.
    """

    rule: str
    before: str
    after: str
    in_result: bool


def find_changed_facts(
    old_schema: Schema, new_schema: Schema, new_unstable: Schema, old: Method, new: Method
) -> Iterator[ChangedFact]:
    """Yield the facts that differ about places that both sides have.

    A place that the head's schemas lack counts, too, if `methods.toml` still names it.
    """
    old_places, new_places = Places(old_schema), Places(new_schema)
    sides = [(old.params, new.params, old.params_facts, new.params_facts)]
    if old.result and new.result:
        sides.append((old.result, new.result, old.result_facts, new.result_facts))
    for old_name, new_name, old_facts, new_facts in sides:
        before, after = _by_place(old_facts), _by_place(new_facts)
        known = {".".join(place.path): place for place in old_places.find(old_name)}
        present = {".".join(place.path) for place in new_places.find(new_name)}
        for kind, path in dict.fromkeys((*before, *after)):
            old_fact, new_fact = before.get((kind, path)), after.get((kind, path))
            is_in_both = path in known and (path in present or _is_named(known[path], new_schema, new_unstable))
            if is_in_both and old_fact != new_fact:
                gained, lost = _RULES[kind]
                rule = gained if not old_fact else lost if not new_fact else "method-needs-changed"
                yield ChangedFact(rule, _show(path, old_fact), _show(path, new_fact), new_name != new.params)


def _by_place(facts: tuple[PlaceFact, ...]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the capabilities of each kind of fact about a place."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for fact in facts:
        key = fact.kind, fact.place
        found[key] = (*found.get(key, ()), fact.capability)
    return found


def _is_named(place: Place, schema: Schema, unstable: Schema) -> bool:
    """Return whether `methods.toml` names a place that the schema and its unstable counterpart lack."""
    return any(schema.places.get(key) is False and not unstable.places.get(key) for key in place.keys)


def _show(path: str, capabilities: tuple[str, ...] | None) -> str:
    if capabilities is None:
        return ""
    return ": ".join(filter(None, (path, ", ".join(capabilities))))


def find_gates(old: Schema, new: Schema) -> dict[str, str]:
    """Return the new capabilities without which nobody sends what is in a place, by the keys of the place.

    Old peers don't advertise these capabilities. A place that some message has without such a condition is left out.
    With the sides exchanged, the capabilities are those that were removed, and that new peers don't advertise.
    """
    known = {path for side in ADVERTISED_IN for path in find_capabilities(old, side)}
    gates: dict[str, set[str]] = {}
    places = Places(new)
    for method in new.methods:
        for definition, facts in ((method.params, method.params_facts), (method.result or "", method.result_facts)):
            needs = {fact.place: fact.capability for fact in facts if fact.capability and fact.capability not in known}
            for place in places.find(definition):
                around = (".".join(place.path[: length + 1]) for length in range(len(place.path)))
                gate = next((needs[path] for path in around if needs.get(path)), "")
                for key in place.keys:
                    gates.setdefault(key, set()).add(gate)
    return {key: ", ".join(sorted(gate)) for key, gate in gates.items() if "" not in gate}


def show_gate(text: str, gate: str) -> str:
    """Return the text of something new, with the new capability that it requires."""
    return f"{text}, needs {gate}" if gate else text


def find_capabilities(schema: Schema, side: str) -> list[str]:
    """Return the capabilities that a side can advertise; none for methods that don't belong to one side."""
    return find_capability_paths(schema, ADVERTISED_IN.get(side, ""), schema.properties.get(f"{side}_capabilities", ""))
