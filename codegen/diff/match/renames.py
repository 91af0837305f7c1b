"""Matches the definitions of the base to those of the head: by name, or by equal structure if one was renamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher

from codegen.diff.compare.shapes import Shape, shape_of
from codegen.ir import Alias, Definition, Field, Model, Schema, Union
from codegen.names import words

# The least similarity at which one name may be the new name of the other.
_SIMILAR = 0.6
# The markers in generated code for properties that tolerate invalid values, and their keywords in the schema.
MARKERS = {
    "DefaultOnError": "x-deserialize-default-on-error",
    "DefaultOnNull": "x-deserialize-default-on-null",
    "SkipInvalidItems": "x-deserialize-skip-invalid-items",
}


def match(old: Schema, new: Schema) -> dict[str, str]:
    """Return the name in the head of each definition of the base, without the removed ones."""
    names = {name: name for name in old.definitions if name in new.definitions}
    names |= _kept(old, new)
    _match_methods(old, new, names)
    while found := _renamed(old, new, names):
        names.update(found)
    return names


def _kept(old: Schema, new: Schema) -> dict[str, str]:
    """Match the definitions whose old names the head keeps, whatever their structure."""
    kept = {each.old: each.new for each in new.old_names if each.new not in old.definitions}
    return {name: kept[name] for name in old.definitions if name in kept}


def _match_methods(old: Schema, new: Schema, names: dict[str, str]) -> None:
    """Match the params and results of the same method, unless the old definition still exists or the new one did."""
    methods = {(each.side, each.wire, each.result is None): each for each in new.methods}
    for method in old.methods:
        other = methods.get((method.side, method.wire, method.result is None))
        pairs = [(method.params, other.params), (method.result or "", other.result or "")] if other else []
        for before, after in pairs:
            if before not in names and after and after not in old.definitions:
                names[before] = after


def _renamed(old: Schema, new: Schema, names: dict[str, str]) -> dict[str, str]:
    """Match the remaining definitions for which there is exactly one of the same structure."""
    taken = set(names.values())
    removed = [each for name, each in old.definitions.items() if name not in names]
    added = [each for name, each in new.definitions.items() if name not in taken]
    wanted = {each.name: _signature(each, names) for each in removed}
    offered = {each.name: _signature(each, {}) for each in added}
    return pair(
        [each.name for each in removed],
        [each.name for each in added],
        lambda a, b: wanted[a] == offered[b] and (_is_distinctive(wanted[a]) or similar(a, b)),
    )


def pair(removed: list[str], added: list[str], same: Callable[[str, str], bool]) -> dict[str, str]:
    """Pair the names for which `same` holds, if neither name has another candidate."""
    found: dict[str, str] = {}
    for each in removed:
        candidates = [other for other in added if same(each, other)]
        rivals = [other for other in removed if candidates and same(other, candidates[0])]
        if len(candidates) == 1 and rivals == [each]:
            found[each] = candidates[0]
    return found


def similar(a: str, b: str) -> bool:
    """Return whether a name may be the new name of another.

    Leaving out the words they share, one has to be the beginning of the other, or both have to be similar texts.
    `workingDir` and `workDir` are similar; `maxTokens` and `minTokens`, `SetModeResponse` and `AskResponse` are not.
    """
    one, other = Counter(words(a)), Counter(words(b))
    left, right = "".join(one - other), "".join(other - one)
    return left.startswith(right) or right.startswith(left) or similarity(left, right) >= _SIMILAR


def similarity(a: str, b: str) -> float:
    """Return how similar two texts are, from 0 to 1, ignoring case."""
    return SequenceMatcher(None, a.lower(), b.lower()).ratio()


def _is_distinctive(signature: tuple[object, ...]) -> bool:
    """Return whether a signature alone is enough to recognise a definition under an unrelated name."""
    return len(signature) > 3


def _signature(definition: Definition, names: dict[str, str]) -> tuple[object, ...]:
    """Return everything about a definition except its name and description."""
    if isinstance(definition, Alias):
        shape = shape_of(definition.type.annotation).renamed(names)
        values, _ = shape.enum() or ((), None)
        return ("alias", shape, *values)
    if isinstance(definition, Union):
        members = [(names.get(each.name, each.name), each.tag) for each in definition.members]
        return ("union", definition.tag, *members)
    base = names.get(definition.base, definition.base) if definition.base else None
    fields = [signature_of_field(each, names) for each in definition.fields if each.wire != "_meta"]
    return ("model", base, *sorted(fields, key=str))


def signature_of_field(field: Field, names: dict[str, str]) -> tuple[object, ...]:
    return (field.wire, *meaning_of_field(field, names))


def meaning_of_field(field: Field, names: dict[str, str]) -> tuple[object, ...]:
    """Return everything about a property except its name and description."""
    shape: Shape = shape_of(field.type.annotation).renamed(names)
    default = repr(field.default_json) if field.has_default else None
    return (shape, field.required, leniency(field), default, field.tag)


def leniency(field: Field) -> tuple[str, ...]:
    """Return the markers of a property that say which invalid values it tolerates."""
    return tuple(each for each in field.markers if each in MARKERS)


def all_fields(schema: Schema, model: Model) -> dict[str, Field]:
    """Return all properties of a model by their JSON keys, inherited ones included."""
    return {field.wire: field for field in schema.fields(model.name)}
