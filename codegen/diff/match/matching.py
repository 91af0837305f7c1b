"""Which definition of the head is which of the base: by name, and where a name is gone, by equal shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher

from codegen.diff.compare.shapes import Shape, shape_of
from codegen.ir import Alias, Definition, Field, Model, Schema, Union
from codegen.names import words

# Below this two words have too little in common to call one the other's new name.
_ALIKE = 0.6
# How a property tolerates invalid values: the markers of the generated code, and the keywords of the schema.
MARKERS = {
    "DefaultOnError": "x-deserialize-default-on-error",
    "DefaultOnNull": "x-deserialize-default-on-null",
    "SkipInvalidItems": "x-deserialize-skip-invalid-items",
}


def match(old: Schema, new: Schema) -> dict[str, str]:
    """What each definition of the base is called in the head. Those that are gone are missing."""
    names = {name: name for name in old.definitions if name in new.definitions}
    _match_methods(old, new, names)
    while found := _renamed(old, new, names):
        names.update(found)
    return names


def _match_methods(old: Schema, new: Schema, names: dict[str, str]) -> None:
    """Params and results of the same method are the same definition, whatever it is called, unless both are there."""
    methods = {(each.side, each.wire, each.result is None): each for each in new.methods}
    for method in old.methods:
        other = methods.get((method.side, method.wire, method.result is None))
        pairs = [(method.params, other.params), (method.result or "", other.result or "")] if other else []
        for before, after in pairs:
            if before not in names and after and after not in old.definitions:
                names[before] = after


def _renamed(old: Schema, new: Schema, names: dict[str, str]) -> dict[str, str]:
    """Definitions without a partner that have exactly one partner of their shape."""
    taken = set(names.values())
    gone = [each for name, each in old.definitions.items() if name not in names]
    come = [each for name, each in new.definitions.items() if name not in taken]
    wanted = {each.name: _signature(each, names) for each in gone}
    offered = {each.name: _signature(each, {}) for each in come}
    return pair(
        [each.name for each in gone],
        [each.name for each in come],
        lambda a, b: wanted[a] == offered[b] and (_is_telling(wanted[a]) or alike(a, b)),
    )


def pair(gone: list[str], come: list[str], same: Callable[[str, str], bool]) -> dict[str, str]:
    """Pairs of which neither side has another candidate; among several the one by far most alike in name."""
    found: dict[str, str] = {}
    for each in gone:
        candidates = [other for other in come if same(each, other)]
        rivals = [other for other in gone if candidates and same(other, candidates[0])]
        if len(candidates) == 1 and rivals == [each]:
            found[each] = candidates[0]
    return found


def alike(a: str, b: str) -> bool:
    """Whether a name may be another's new one: what they don't share is a word more, a longer word or a similar one.

    `workingDir` and `workDir` are alike; `maxTokens` and `minTokens`, `SetModeResponse` and `AskResponse` are not.
    """
    one, other = Counter(words(a)), Counter(words(b))
    left, right = "".join(one - other), "".join(other - one)
    return left.startswith(right) or right.startswith(left) or similarity(left, right) >= _ALIKE


def similarity(a: str, b: str) -> float:
    return SequenceMatcher(None, a.lower(), b.lower()).ratio()


def _is_telling(signature: tuple[object, ...]) -> bool:
    """Whether a shape says enough to recognise a definition whose name has changed altogether."""
    return len(signature) > 3


def _signature(definition: Definition, names: dict[str, str]) -> tuple[object, ...]:
    """Everything that a definition says but its name and its description."""
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
    """What a property says but its name and its description."""
    shape: Shape = shape_of(field.type.annotation).renamed(names)
    default = repr(field.default_json) if field.has_default else None
    return (shape, field.required, leniency(field), default, field.tag)


def leniency(field: Field) -> tuple[str, ...]:
    """How a property tolerates invalid values, by the markers of the generated code."""
    return tuple(each for each in field.markers if each in MARKERS)


def effective(schema: Schema, model: Model) -> dict[str, Field]:
    """All properties of a model by their keys, those of what it wraps too."""
    return {field.wire: field for field in schema.fields(model.name)}
