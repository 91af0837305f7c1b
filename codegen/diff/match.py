"""Matches the definitions of the base to those of the head: by name, or by equal structure if one was renamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

from codegen.ir import Alias, Definition, Field, Member, Schema, Union
from codegen.names import words
from codegen.types import Type

Key = TypeVar("Key", bound=Hashable)
# The least similarity at which one word may be another spelling of the other, and the least length of such words.
_SPELLING, _LONG = 0.85, 5
# The least number of equal parts that are evidence.
_SEVERAL = 2
# The share of equal parts that is evidence enough without similar names.
_MOST = 2 / 3
# The markers in generated code for properties that tolerate invalid values.
_MARKERS = ("DefaultOnError", "DefaultOnNull", "SkipInvalidItems")


def match(old: Schema, new: Schema) -> dict[str, str]:
    """Return the name in the head of each definition of the base, without the removed ones.

    A definition was renamed if the head keeps its old name, or if the same method has it as its params or result. It
    may have been renamed if there is exactly one new definition of which enough parts are equal.
    """
    names = {name: name for name in old.definitions if name in new.definitions}
    kept = {old_name.old: old_name.new for old_name in new.old_names if old_name.new not in old.definitions}
    names |= {name: kept[name] for name in old.definitions if name in kept}
    _match_methods(old, new, names)
    while matches := _match_members(old, new, names) or _match_renamed(old, new, names):
        names.update(matches)
    return names


def _match_methods(old: Schema, new: Schema, names: dict[str, str]) -> None:
    """Match the params and results of the same method, unless the old definition still exists or the new one did."""
    methods = {(method.side, method.wire, method.result is None): method for method in new.methods}
    for method in old.methods:
        other = methods.get((method.side, method.wire, method.result is None))
        pairs = [(method.params, other.params), (method.result or "", other.result or "")] if other else []
        for before, after in pairs:
            if before not in names and after and after not in old.definitions:
                names[before] = after


def _match_members(old: Schema, new: Schema, names: dict[str, str]) -> dict[str, str]:
    """Match the inline members of unions that were renamed, which are named after them."""
    matches: dict[str, str] = {}
    for before, after in names.items():
        union = old.definitions[before]
        for member in union.members if isinstance(union, Union) and before != after else ():
            other = after + member.label
            if member.name == before + member.label not in names and other in new.definitions.keys() - names.values():
                matches[member.name] = other
    return matches


def _match_renamed(old: Schema, new: Schema, names: dict[str, str]) -> dict[str, str]:
    """Match the remaining definitions for which there is exactly one that may be the same under a new name."""
    old_structures = {name: structure_of(old, definition, names) for name, definition in old.definitions.items()}
    new_structures = {name: structure_of(new, definition, {}) for name, definition in new.definitions.items()}
    counts = [Counter(structures.values()) for structures in (old_structures, new_structures)]

    def is_rename(a: str, b: str) -> bool:
        before, after = old.definitions[a], new.definitions[b]
        if _owner(before) != a or _owner(after) != b:  # an inline member, which is recognised by its union
            return old_structures[a] == new_structures[b] and names.get(_owner(before)) == _owner(after)
        has_same_text = bool(before.doc) and before.doc == after.doc
        is_distinctive = counts[0][old_structures[a]] == counts[1][new_structures[b]] == 1
        return old_structures[a].may_be(
            new_structures[b], named=has_same_text or are_similar_names(a, b), distinctive=is_distinctive
        )

    taken = set(names.values())
    added = [name for name in new_structures if name not in taken]
    return pair([name for name in old_structures if name not in names], added, is_rename)


def _owner(definition: Definition) -> str:
    """Return the definition of the schema that a definition is, or is a part of."""
    return definition.pointer.split("/")[2]


def pair(removed: list[Key], added: list[Key], same: Callable[[Key, Key], bool]) -> dict[Key, Key]:
    """Pair the names for which `same` holds, if neither name has another candidate."""
    pairs: dict[Key, Key] = {}
    for key in removed:
        candidates = [other for other in added if same(key, other)]
        rivals = [other for other in removed if candidates and same(other, candidates[0])]
        if len(candidates) == 1 and rivals == [key]:
            pairs[key] = candidates[0]
    return pairs


def are_similar_names(a: str, b: str) -> bool:
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
    return len(short) >= _LONG and SequenceMatcher(None, short, long).ratio() >= _SPELLING


class Structure(NamedTuple):
    """Everything about a definition except its name and description.

    Attributes:
        parts: its properties, members or values, with a word for them.
        whole: its kind, and what else it has: a base class, a tag, a type.
    """

    noun: str
    parts: frozenset[object]
    whole: tuple[object, ...]

    def equal(self, other: Structure) -> str:
        """Return how many parts are equal, in words; empty if everything is."""
        total = max(len(self.parts), len(other.parts))
        return "" if self == other else f"{len(self.parts & other.parts)} of {total} {self.noun}"

    def may_be(self, other: Structure, *, named: bool, distinctive: bool) -> bool:
        """Return whether a definition may be another one under a new name.

        Args:
            other: the structure of the other definition.
            named: whether the names are similar or the descriptions the same.
            distinctive: whether no third definition has either structure.
        """
        equal, total = len(self.parts & other.parts), max(len(self.parts), len(other.parts))
        if self == other:
            return named or (distinctive and equal >= _SEVERAL)
        least = 1 / 2 if named else _MOST
        return self.noun == other.noun and equal >= _SEVERAL + (not named) and equal >= least * total


def find_split_parts(
    old: Schema, gone: Definition, new: Schema, added: list[Definition], names: dict[str, str]
) -> list[str]:
    """Return the new definitions that together have most parts of one that is gone; none if it is one or nothing."""
    before = structure_of(old, gone, names)
    shared = {definition.name: before.parts & structure_of(new, definition, {}).parts for definition in added}
    parts = [name for name, shared_parts in shared.items() if len(shared_parts) >= _SEVERAL]
    equal = len(frozenset[object]().union(*(shared[name] for name in parts)))
    return parts if len(parts) > 1 and equal >= _MOST * len(before.parts) else []


def structure_of(schema: Schema, definition: Definition, names: dict[str, str]) -> Structure:
    """Return the structure of a definition. `names`: the new names of definitions that it refers to."""
    if isinstance(definition, Alias):
        values, others = definition.type.enum or ((), definition.type.renamed(names))
        return Structure("values", frozenset(values), ("alias", others))
    if isinstance(definition, Union):
        members = (_member(schema, definition, member, names) for member in definition.members)
        return Structure("members", frozenset(members), ("union", definition.tag))
    base = names.get(definition.base, definition.base) if definition.base else None
    fields = ((field.wire, *meaning_of_field(field, names)) for field in definition.fields if field.wire != "_meta")
    return Structure("properties", frozenset(fields), ("model", base))


def _member(schema: Schema, union: Union, member: Member, names: dict[str, str]) -> tuple[object, ...]:
    """Return what identifies a member of a union: its content if it is named after the union, otherwise its name."""
    if member.name != union.name + member.label:
        return (names.get(member.name, member.name), member.tag)
    return (member.label, member.tag, structure_of(schema, schema.definitions[member.name], names))


def meaning_of_field(field: Field, names: dict[str, str]) -> tuple[object, ...]:
    """Return everything about a property except its name and description."""
    type_: Type = field.type.renamed(names)
    default = repr(field.default) if field.has_default else None
    return (type_, field.required, leniency(field), default, field.tag)


def leniency(field: Field) -> tuple[str, ...]:
    """Return the markers of a property that say which invalid values it tolerates."""
    return tuple(marker for marker in field.markers if marker in _MARKERS)
