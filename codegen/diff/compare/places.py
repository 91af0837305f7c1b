"""Compares the facts about places in messages, and finds which new parts of messages need a new capability."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.data.places import Place, Places
from codegen.data.resolve import ADVERTISED_IN, find_capability_paths
from codegen.facts import PlaceFact
from codegen.ir import Method, Schema

# The kinds of facts, with the rules for a place that gains or loses one.
_RULES = {
    "Needs": ("method-needs-gained", "method-needs-lost"),
    "Absolute": ("method-absolute-gained", "method-absolute-lost"),
    "Unsupported": ("method-unsupported-gained", "method-unsupported-lost"),
}


def find_changed_facts(
    old_schema: Schema, new_schema: Schema, new_unstable: Schema, old: Method, new: Method
) -> Iterator[tuple[str, tuple[str, str], bool]]:
    """Yield the changed facts about places that both sides have: the rule, both texts, and whether it is in the result.

    A place that `methods.toml` still names counts even if the head's schemas lack it.
    """
    old_places, new_places = Places(old_schema), Places(new_schema)
    messages = [(False, old.params, new.params, old.params_facts, new.params_facts)]
    if old.result and new.result:
        messages.append((True, old.result, new.result, old.result_facts, new.result_facts))
    for in_result, old_name, new_name, old_facts, new_facts in messages:
        before, after = _by_place(old_facts), _by_place(new_facts)
        known = {".".join(place.path): place for place in old_places.find(old_name)}
        present = {".".join(place.path) for place in new_places.find(new_name)}
        for kind, path in dict.fromkeys((*before, *after)):
            old_fact, new_fact = before.get((kind, path)), after.get((kind, path))
            is_in_both = path in known and (path in present or _is_named(known[path], new_schema, new_unstable))
            if is_in_both and old_fact != new_fact:
                gained, lost = _RULES[kind]
                rule = gained if not old_fact else lost if not new_fact else "method-needs-changed"
                yield rule, (_show(path, old_fact), _show(path, new_fact)), in_result


def _by_place(facts: tuple[PlaceFact, ...]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the capabilities that facts name, by the kind of fact and the place."""
    capabilities: dict[tuple[str, str], tuple[str, ...]] = {}
    for fact in facts:
        key = fact.kind, fact.place
        capabilities[key] = (*capabilities.get(key, ()), fact.capability)
    return capabilities


def _is_named(place: Place, schema: Schema, unstable: Schema) -> bool:
    """Return whether `methods.toml` names a place that the schema and its unstable counterpart lack."""
    return any(schema.places.get(key) is False and not unstable.places.get(key) for key in place.keys)


def _show(path: str, capabilities: tuple[str, ...] | None) -> str:
    if capabilities is None:
        return ""
    return ": ".join(filter(None, (path, ", ".join(capabilities))))


def find_gates(old: Schema, new: Schema) -> dict[str, str]:
    """Return the new capabilities that parts of messages require, by the keys of the parts' places.

    Old peers don't advertise these capabilities. A part that some message has without a new capability is left out.
    With the sides exchanged, the result is the removed capabilities, which new peers don't advertise.
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


def find_capabilities(schema: Schema, side: str) -> list[str]:
    """Return the capabilities that a side can advertise; none for methods that don't belong to one side."""
    return find_capability_paths(schema, ADVERTISED_IN.get(side, ""), schema.properties.get(f"{side}_capabilities", ""))
