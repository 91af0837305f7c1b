"""Matches the definitions of the base with those of the head: by name, or by structure if they were renamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

from codegen.ir import Alias, Definition, Field, Member, Schema, Union, is_inline
from codegen.names import words
from codegen.types import Type

Key = TypeVar("Key", bound=Hashable)
# Two words may be spellings of the same word if they are at least this similar and this long.
_MIN_SIMILARITY = 0.85
_MIN_LENGTH = 5
# At least this many parts must be equal.
_MIN_EQUAL_PARTS = 2
# The share of parts that must be equal if the names aren't similar.
_MIN_SHARE = 2 / 3
# The markers in generated code for properties that tolerate invalid values.
_MARKERS = ("DefaultOnError", "DefaultOnNull", "SkipInvalidItems")


def match(old: Schema, new: Schema) -> dict[str, str]:
    """Return the names of the base's definitions in the head. Removed definitions are left out.

    A definition was renamed if the head keeps its old name, or if the same method has it as its params or result. It
    may have been renamed if it has enough equal parts with exactly one new definition.
    """
    names = {name: name for name in old.definitions if name in new.definitions}
    kept = {old_name.old: old_name.new for old_name in new.old_names if old_name.new not in old.definitions}
    names |= {name: kept[name] for name in old.definitions if name in kept}
    _match_methods(old, new, names)
    while matches := _match_members(old, new, names) or _match_renamed(old, new, names):
        names.update(matches)
    return names


def _match_methods(old: Schema, new: Schema, names: dict[str, str]) -> None:
    """Match the params and results of the same method, unless the head has the old one or the base has the new one."""
    methods = {method.key: method for method in new.methods}
    for method in old.methods:
        other = methods.get(method.key)
        pairs = [(method.params, other.params), (method.result or "", other.result or "")] if other else []
        for before, after in pairs:
            if before not in names and after and after not in old.definitions:
                names[before] = after


def _match_members(old: Schema, new: Schema, names: dict[str, str]) -> dict[str, str]:
    """Match the inline members of renamed unions, because members are named after their union."""
    matches: dict[str, str] = {}
    for before, after in names.items():
        union = old.definitions[before]
        for member in union.members if isinstance(union, Union) and before != after else ():
            other = after + member.label
            if member.name == before + member.label not in names and other in new.definitions.keys() - names.values():
                matches[member.name] = other
    return matches


def _match_renamed(old: Schema, new: Schema, names: dict[str, str]) -> dict[str, str]:
    """Match the remaining definitions with exactly one new definition that may be the same."""
    old_structures = {name: structure_of(old, definition, names) for name, definition in old.definitions.items()}
    new_structures = {name: structure_of(new, definition, {}) for name, definition in new.definitions.items()}
    old_counts = Counter(old_structures.values())
    new_counts = Counter(new_structures.values())

    def is_rename(a: str, b: str) -> bool:
        before, after = old.definitions[a], new.definitions[b]
        if is_inline(before) or is_inline(after):
            return old_structures[a] == new_structures[b] and names.get(_find_owner(before)) == _find_owner(after)
        has_same_text = bool(before.doc) and before.doc == after.doc
        return old_structures[a].may_be(
            new_structures[b],
            has_similar_name=has_same_text or are_similar_names(a, b),
            is_unique=old_counts[old_structures[a]] == new_counts[new_structures[b]] == 1,
        )

    matched = set(names.values())
    removed = [name for name in old_structures if name not in names]
    added = [name for name in new_structures if name not in matched]
    return pair(removed, added, is_rename)


def _find_owner(definition: Definition) -> str:
    """Return the name of a definition, or of the definition that an inline member is in."""
    return definition.pointer.split("/")[2]


def pair(removed: list[Key], added: list[Key], are_same: Callable[[Key, Key], bool]) -> dict[Key, Key]:
    """Pair the keys that are the same, if neither has another candidate."""
    pairs: dict[Key, Key] = {}
    for key in removed:
        candidates = [other for other in added if are_same(key, other)]
        if len(candidates) == 1 and [other for other in removed if are_same(other, candidates[0])] == [key]:
            pairs[key] = candidates[0]
    return pairs


def are_similar_names(a: str, b: str) -> bool:
    """Return whether a name may be the new name of another.

    Without the words that both have, one must be empty or an abbreviation of the other, or both must be spellings of
    the same word. `workingDir` and `workDir` are similar. `maxTokens` and `minTokens` are not, nor are `modeId` and
    `modelId`.
    """
    words_of_a, words_of_b = Counter(words(a)), Counter(words(b))
    short, long = sorted(("".join(words_of_a - words_of_b), "".join(words_of_b - words_of_a)), key=len)
    rest = long.removeprefix(short)
    if not short or not rest or rest == "s" or (long != rest and len(rest) > 1):
        return True
    return len(short) >= _MIN_LENGTH and SequenceMatcher(None, short, long).ratio() >= _MIN_SIMILARITY


class Structure(NamedTuple):
    """Everything about a definition except its name and description.

    Attributes:
        noun: what its parts are called: properties, members or values.
        parts: its properties, members or values.
        rest: its kind, and its base class, tag or type.
    """

    noun: str
    parts: frozenset[object]
    rest: tuple[object, ...]

    def count_equal(self, other: Structure) -> str:
        """Say how many parts are equal; empty if the structures are equal."""
        total = max(len(self.parts), len(other.parts))
        return "" if self == other else f"{len(self.parts & other.parts)} of {total} {self.noun}"

    def may_be(self, other: Structure, *, has_similar_name: bool, is_unique: bool) -> bool:
        """Return whether both may be the same definition under different names.

        Args:
            other: the structure of the other definition.
            has_similar_name: whether the names are similar, or the descriptions are the same.
            is_unique: whether no third definition has one of the structures.
        """
        equal = len(self.parts & other.parts)
        total = max(len(self.parts), len(other.parts))
        if self == other:
            return has_similar_name or (is_unique and equal >= _MIN_EQUAL_PARTS)
        if self.noun != other.noun:
            return False
        if has_similar_name:
            return equal >= _MIN_EQUAL_PARTS and equal >= total / 2
        return equal > _MIN_EQUAL_PARTS and equal >= _MIN_SHARE * total


def structure_of(schema: Schema, definition: Definition, names: dict[str, str]) -> Structure:
    """Return the structure of a definition. `names` are the new names of definitions that it refers to."""
    if isinstance(definition, Alias):
        values, others = definition.type.enum or ((), definition.type.renamed(names))
        return Structure("values", frozenset(values), ("alias", others))
    if isinstance(definition, Union):
        members = (_identify_member(schema, definition, member, names) for member in definition.members)
        return Structure("members", frozenset(members), ("union", definition.tag))
    base = names.get(definition.base, definition.base) if definition.base else None
    fields = ((field.wire, *meaning_of_field(field, names)) for field in definition.fields if field.wire != "_meta")
    return Structure("properties", frozenset(fields), ("model", base))


def _identify_member(schema: Schema, union: Union, member: Member, names: dict[str, str]) -> tuple[object, ...]:
    """Return what identifies a union's member: its structure if it is named after the union, otherwise its name."""
    if member.name != union.name + member.label:
        return (names.get(member.name, member.name), member.tag)
    return (member.label, member.tag, structure_of(schema, schema.definitions[member.name], names))


def meaning_of_field(field: Field, names: Mapping[str, str]) -> tuple[object, ...]:
    """Return everything about a property except its name and description."""
    type_: Type = field.type.renamed(names)
    default = repr(field.default) if field.has_default else None
    return (type_, field.required, leniency(field), default, field.tag)


def leniency(field: Field) -> tuple[str, ...]:
    """Return the markers of a property that say which invalid values it tolerates."""
    return tuple(marker for marker in field.markers if marker in _MARKERS)
