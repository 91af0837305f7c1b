"""Matches the definitions of the base to those of the head: by name, or by equal structure if one was renamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher
from functools import cached_property

from codegen.diff.match.shapes import Shape, shape_of
from codegen.ir import Alias, Definition, Field, Member, Model, Schema, Union
from codegen.names import words

# The least similarity at which one word may be another spelling of the other, and the least length of such words.
_SPELLING, _LONG = 0.85, 5
# A signature with at most this many parts is never evidence by itself: an object with one property, an enum with one
# value, a union with one member.
_FEW = 3
# The markers in generated code for properties that tolerate invalid values, and their keywords in the schema.
MARKERS = {
    "DefaultOnError": "x-deserialize-default-on-error",
    "DefaultOnNull": "x-deserialize-default-on-null",
    "SkipInvalidItems": "x-deserialize-skip-invalid-items",
}


def match(old: Schema, new: Schema) -> dict[str, str]:
    """Return the name in the head of each definition of the base, without the removed ones.

    A definition was renamed if the head keeps its old name, if the same method has it as its params or result, or if
    there is exactly one with the same structure and further evidence: the same description, a similar name, or a
    structure that no other definition has.
    """
    names = {name: name for name in old.definitions if name in new.definitions}
    names |= _kept(old, new)
    _match_methods(old, new, names)
    evidence = _Evidence(old, new)
    while found := _members(old, new, names) or _renamed(evidence, names):
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


def _members(old: Schema, new: Schema, names: dict[str, str]) -> dict[str, str]:
    """Match the inline members of unions that were renamed, which are named after them."""
    found: dict[str, str] = {}
    for before, after in names.items():
        union = old.definitions[before]
        for member in union.members if isinstance(union, Union) and before != after else ():
            other = after + member.label
            if member.name == before + member.label not in names and other in new.definitions.keys() - names.values():
                found[member.name] = other
    return found


def _renamed(evidence: _Evidence, names: dict[str, str]) -> dict[str, str]:
    """Match the remaining definitions for which there is exactly one of the same structure, and further evidence."""
    old, new, taken = evidence.old, evidence.new, set(names.values())
    removed = {name: _signature(old, each, names) for name, each in old.definitions.items() if name not in names}
    added = {name: _signature(new, each, {}) for name, each in new.definitions.items() if name not in taken}
    return pair([*removed], [*added], lambda a, b: removed[a] == added[b] and evidence.is_rename(a, b, names))


class _Evidence:
    """The definitions of both sides, and what says that one of them is another one under a new name."""

    def __init__(self, old: Schema, new: Schema) -> None:
        self.old = old
        self.new = new

    @cached_property
    def _counts(self) -> list[Counter[object]]:
        """How many definitions of each side have the same structure."""
        return [
            Counter(_signature(schema, each, {}) for each in schema.definitions.values())
            for schema in (self.old, self.new)
        ]

    def is_rename(self, before: str, after: str, names: dict[str, str]) -> bool:
        """Return whether two definitions of the same structure are one that was renamed."""
        old, new = self.old.definitions[before], self.new.definitions[after]
        if _owner(old) != old.name or _owner(new) != new.name:  # an inline member, which is recognised by its union
            return names.get(_owner(old)) == _owner(new)
        same_text = bool(old.doc) and old.doc == new.doc
        return same_text or similar(before, after) or self._is_distinctive(old, new)

    def _is_distinctive(self, old: Definition, new: Definition) -> bool:
        """Return whether the structure alone is evidence: it has several parts, and no other definition has it."""
        signatures = (_signature(self.old, old, {}), _signature(self.new, new, {}))
        return len(signatures[1]) > _FEW and all(
            counts[signature] == 1 for counts, signature in zip(self._counts, signatures, strict=True)
        )


def _owner(definition: Definition) -> str:
    """Return the definition of the schema that a definition is, or is a part of."""
    return definition.pointer.split("/")[2]


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

    Leaving out the words they share, one has to be empty or an abbreviation of the other, or both have to be spellings
    of the same word. `workingDir` and `workDir` are similar; `maxTokens` and `minTokens`, `SetModeResponse` and
    `AskResponse`, `modeId` and `modelId` are not.
    """
    one, other = Counter(words(a)), Counter(words(b))
    short, long = sorted(("".join(one - other), "".join(other - one)), key=len)
    rest = long.removeprefix(short)
    if not short or not rest or rest == "s" or (long != rest and len(rest) > 1):
        return True
    return len(short) >= _LONG and similarity(short, long) >= _SPELLING


def similarity(a: str, b: str) -> float:
    """Return how similar two texts are, from 0 to 1, ignoring case."""
    return SequenceMatcher(None, a.lower(), b.lower()).ratio()


def _signature(schema: Schema, definition: Definition, names: dict[str, str]) -> tuple[object, ...]:
    """Return everything about a definition except its name and description."""
    if isinstance(definition, Alias):
        shape = shape_of(definition.type.annotation).renamed(names)
        values, _ = shape.enum() or ((), None)
        return ("alias", shape, *values)
    if isinstance(definition, Union):
        return ("union", definition.tag, *(_member(schema, definition, each, names) for each in definition.members))
    base = names.get(definition.base, definition.base) if definition.base else None
    fields = [signature_of_field(each, names) for each in definition.fields if each.wire != "_meta"]
    return ("model", base, *sorted(fields, key=str))


def _member(schema: Schema, union: Union, member: Member, names: dict[str, str]) -> tuple[object, ...]:
    """Return what identifies a member of a union: its content if it is named after the union, otherwise its name."""
    if member.name != union.name + member.label:
        return (names.get(member.name, member.name), member.tag)
    return (member.label, member.tag, _signature(schema, schema.definitions[member.name], names))


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
