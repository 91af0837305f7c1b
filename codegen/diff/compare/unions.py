"""Compares unions: their members, whether they accept unknown members, and how a member is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.diff.compare.comparison import Comparison, note_deprecation
from codegen.diff.compare.pointers import member_pointer
from codegen.diff.compare.readings import is_open_member, make_choice, rate_member
from codegen.diff.match import meaning_of_field, pair
from codegen.diff.verdict.findings import Renamed
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import SAFE, Verdicts
from codegen.ir import Member, Model, Schema, Union, excluded_tags, is_inline

_RENAMED = "union-member-renamed"
# Whether these break messages depends on which messages the members without a tag accept.
_ABOUT_MESSAGES = ("union-closed-member-added", "union-closed-member-removed", "union-member-retagged")
# The content of a member that has neither a base class nor properties apart from its tag.
_EMPTY = ("",)


@dataclass(frozen=True)
class UnionComparison:
    """The comparison of a union."""

    comparison: Comparison
    old: Union
    new: Union

    @property
    def sides(self) -> tuple[tuple[Schema, Union], tuple[Schema, Union]]:
        return (self.comparison.old.schema, self.old), (self.comparison.new.schema, self.new)

    def add(
        self, rule: str, before: Member | None = None, after: Member | None = None, texts: tuple[str, str] | None = None
    ) -> None:
        """Add a finding about a member, or with `texts` about the whole union."""
        comparison, member = self.comparison, after or before
        renamed = self._describe_rename(before, after) if rule == _RENAMED and before and after else None
        verdicts, shown = comparison.apply_gates(
            self._rate(rule, before, after, renamed),
            texts=(_show_member(before), _show_member(after)),
            old_part=before.name if before and not after else "",
            new_part=after.name if after and not before else "",
        )
        members = (after, before) if member else self._find_open_members()
        comparison.add(
            rule,
            self.old,
            self.new,
            pointers=(
                member_pointer(comparison.old.raw, self.old, before) if before or not after else "",
                member_pointer(comparison.new.raw, self.new, after) if after or not before else "",
            ),
            subject=f"{self.new.name}:{member.tag or member.label}" if member else self.new.name,
            verdicts=verdicts,
            texts=texts or shown,
            symbols=comparison.python_names(self.new, self.old, *members),
            renamed=renamed,
            sent_texts=(_find_own_text(*self.sides[0], before), _find_own_text(*self.sides[1], after)),
            reading_code=self._write_reading_code(rule, after),
        )

    def _rate(self, rule: str, before: Member | None, after: Member | None, renamed: Renamed | None) -> Verdicts:
        """Return the rule's verdicts. For messages of closed unions, samples of the member decide."""
        verdicts = RULES[rule].verdicts
        if renamed and renamed.until:
            return verdicts.with_old_name_kept()
        if rule == "union-member-retagged" and before and after and before.name == after.name:
            verdicts = verdicts.with_old_name_kept()  # code names the class, not the tag
        is_same = before and after and self.comparison.names.get(before.name) == after.name
        if rule not in _ABOUT_MESSAGES and (rule != _RENAMED or is_same):
            return verdicts
        old, new = (make_choice(schema, union, {}) for schema, union in self.sides)
        if not (old.has_fallback or new.has_fallback):
            return verdicts
        names = (before.name, after.name) if before and after else ("", "")
        return verdicts.with_wire(
            rate_member(new, after.name, old, names[0]) if after else SAFE,
            rate_member(old, before.name, new, names[1]) if before else SAFE,
        )

    def _write_reading_code(self, rule: str, after: Member | None) -> str:
        """Return a line of code that reads the tag if the tag changed, or that accepts only the old members."""
        schema = self.comparison.new.schema
        old_members = {self.comparison.names.get(member.name) for member in self.old.members}
        is_model = after and isinstance(schema.definitions.get(after.name), Model)
        if after and is_model and old_members.intersection(schema.bases(after.name)):
            return ""  # a new member that derives from an old one is accepted as the old one
        if rule == "union-tag-changed":
            return f"value.{self.old.tag}  # value: {self.old.members[0].name}"
        return f"value: {self.old.type.hint} = new  # new: {self.new.name}"

    def _describe_rename(self, before: Member, after: Member) -> Renamed | None:
        """Return the change of a member's class; None if its old name can't be kept, or changed with the union's."""
        comparison = self.comparison
        renamed = comparison.describe_rename(before.name, after.name)
        follows = self.old.name != self.new.name and before.name == self.old.name + after.label
        is_free = before.name not in comparison.new.schema.definitions
        return renamed if renamed.until or (is_free and not follows) else None

    def _find_open_members(self) -> list[Member]:
        """Return the open members of both sides."""
        return [
            member
            for schema, union in self.sides[::-1]
            for member in union.members
            if is_open_member(schema, member.name)
        ]


def compare_unions(comparison: Comparison, old: Union, new: Union) -> None:
    """Compare two unions. If their members derive from those of other unions, only their names are compared."""
    unions = UnionComparison(comparison, old, new)
    if old.base and new.base:
        members = {member.name: member for member in new.members}
        for before in old.members:
            after = members.get(comparison.names.get(before.name, ""))
            if after and before.label != after.label:
                unions.add(_RENAMED, before, after)
        return
    was_open, is_open = is_open_union(comparison.old.schema, old), is_open_union(comparison.new.schema, new)
    if was_open != is_open:
        texts = _show_union(comparison.old.schema, old), _show_union(comparison.new.schema, new)
        unions.add("union-opened" if is_open else "union-closed", texts=texts)
    if old.tag != new.tag and old.tag and new.tag:
        unions.add("union-tag-changed", texts=(old.tag, new.tag))
    reserved = [find_reserved_tags(schema, union) for schema, union in unions.sides]
    listed = {member.tag for union in (old, new) for member in union.members}
    if was_open and is_open and reserved[0] - listed != reserved[1] - listed:
        unions.add("union-reserved-tags-changed", texts=(_list_texts(reserved[0]), _list_texts(reserved[1])))
    if old.exclusive != new.exclusive:
        first, one = "the first member that matches", "exactly one member matches"
        unions.add("union-choice-changed", texts=(first, one) if new.exclusive else (one, first))
    _compare_members(unions, was_open, is_open)


def _compare_members(unions: UnionComparison, was_open: bool, is_open: bool) -> None:
    comparison = unions.comparison
    old = _by_key(comparison.old.schema, unions.old, comparison.names)
    new = _by_key(comparison.new.schema, unions.new, {})
    removed = {key: member for key, member in old.items() if key not in new}
    added = {key: member for key, member in new.items() if key not in old}
    contents = {key: _content_of(comparison.old.schema, member, comparison.names) for key, member in removed.items()}
    new_contents = {key: _content_of(comparison.new.schema, member, {}) for key, member in added.items()}

    def are_same(before: str, after: str) -> bool:
        """Return whether two members have the same content, unless it is empty, or the same title."""
        has_title = not removed[before].tag and not added[after].tag
        same_title = has_title and removed[before].label == added[after].label
        return same_title or contents[before] == new_contents[after] != _EMPTY

    renamed = pair(list(removed), list(added), are_same)
    for old_key, new_key in renamed.items():
        before, after = removed.pop(old_key), added.pop(new_key)
        unions.add("union-member-retagged" if before.tag or after.tag else _RENAMED, before, after)
    for member in added.values():
        unions.add(f"union-{'open' if was_open else 'closed'}-member-added", None, member)
    for member in removed.values():
        unions.add(f"union-{'open' if is_open else 'closed'}-member-removed", member, None)
    others = {_key_of(comparison.new.schema, member, {}): member for member in unions.new.members}
    for member in unions.old.members:
        other = others.get(_key_of(comparison.old.schema, member, comparison.names), member)
        if other.deprecated != member.deprecated:
            unions.add("union-member-deprecated", member, other, note_deprecation(member, other))
    old_order = [key for key in old if key in new]
    new_order = [key for key in new if key in old]
    for key in old_order:
        if comparison.names.get(old[key].name) != new[key].name:
            unions.add(_RENAMED, old[key], new[key])
    if old_order != new_order and not unions.new.tag:
        texts = _list_members([old[key] for key in old_order]), _list_members([new[key] for key in new_order])
        unions.add("union-order-changed", texts=texts)


def _by_key(schema: Schema, union: Union, names: Mapping[str, str]) -> dict[str, Member]:
    """Return the members by tag, title or definition, without the open member, which has its own rules.

    The title of a member that is a definition isn't visible in Python. `names` are the new names of definitions.
    """
    kept = [member for member in union.members if not is_open_member(schema, member.name)] or union.members
    return {_key_of(schema, member, names): member for member in kept}


def _key_of(schema: Schema, member: Member, names: Mapping[str, str]) -> str:
    if member.tag or is_inline(schema.definitions[member.name]):
        return member.tag or f"title {member.label}"
    return f"definition {names.get(member.name, member.name)}"


def is_open_union(schema: Schema, union: Union) -> bool:
    """Return whether a union accepts unknown members.

    A union of only open members is itself the open member of another union, and doesn't count as open.
    """
    are_open = [is_open_member(schema, member.name) for member in union.members]
    return any(are_open) and not all(are_open)


def find_reserved_tags(schema: Schema, union: Union) -> set[str]:
    """Return the tags that a union neither lists nor accepts as unknown, because only another profile lists them."""
    models = (model for member in union.members for model in schema.concrete_models(member.name))
    markers = (marker for model in models for field in model.fields for marker in field.markers)
    excluded = {tag for marker in markers for tag in excluded_tags(marker)}
    return excluded - {member.tag for member in union.members}


def _list_texts(tags: set[str]) -> str:
    return f"reserved: {', '.join(sorted(tags))}" if tags else "reserved: none"


def _content_of(schema: Schema, member: Member, names: dict[str, str]) -> tuple[object, ...]:
    """Return the content of a member without its tag, in a form that can be compared."""
    definition = schema.definitions[member.name]
    if not isinstance(definition, Model) or not is_inline(definition):
        return (names.get(member.name, member.name),)
    base = names.get(definition.base, definition.base) if definition.base else ""
    own = [(field.wire, *meaning_of_field(field, names)) for field in definition.fields if field.tag is None]
    return (base, *sorted(own, key=str))


def _find_own_text(schema: Schema, union: Union, member: Member | None) -> str:
    """Return a text that is only in messages with this member: its tag, or a property; empty if there is none."""
    if member is None or member.tag:
        return member.tag or "" if member else ""
    others = {key for other in union.members if other.name != member.name for key in _list_keys(schema, other)}
    return next((key for key in _list_keys(schema, member) if key not in others), "")


def _list_keys(schema: Schema, member: Member) -> list[str]:
    return [field.wire for model in schema.concrete_models(member.name) for field in schema.fields(model.name)]


def _show_union(schema: Schema, union: Union) -> str:
    """Return all members that a union accepts, as text."""
    is_open = is_open_union(schema, union)
    named = _list_members([member for member in union.members if not (is_open and is_open_member(schema, member.name))])
    return f"open: {named}, any other member" if is_open else f"closed: {named}"


def _list_members(members: list[Member]) -> str:
    return ", ".join(member.tag or member.name for member in members)


def _show_member(member: Member | None) -> str:
    if member is None:
        return ""
    return f"{member.tag}: {member.name}" if member.tag else member.name
