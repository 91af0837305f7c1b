"""Compare unions: their members, whether they accept unknown members, and how a member is chosen."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.diff.compare.comparison import Comparison
from codegen.diff.compare.pointers import is_derived, member_pointer
from codegen.diff.compare.readings import is_open_member, make_choice, rate_member
from codegen.diff.match import meaning_of_field, pair
from codegen.diff.verdict.findings import Renamed
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import SAFE, Verdicts
from codegen.ir import Member, Model, Schema, Union

_RENAMED = "union-member-renamed"
# Whether these break messages depends on what the members without a tag accept.
_ABOUT_MESSAGES = ("union-closed-member-added", "union-closed-member-removed", "union-member-retagged")
# The content of a member that has neither a base class nor properties apart from its tag.
_EMPTY = ("",)


@dataclass(frozen=True)
class UnionComparison:
    """The comparison of one union."""

    comparison: Comparison
    old: Union
    new: Union

    def add(
        self, rule: str, before: Member | None = None, after: Member | None = None, texts: tuple[str, str] | None = None
    ) -> None:
        """Add a finding about the union, or about a member. `texts`: both sides, if it isn't about a member."""
        comparison, member = self.comparison, after or before
        renamed = self._renamed(before, after) if rule == _RENAMED and before and after else None
        members = (after, before) if member else self._open_members()
        comparison.add(
            rule,
            self.old,
            self.new,
            pointers=(
                member_pointer(comparison.old.raw, self.old, before) if before or not after else "",
                member_pointer(comparison.new.raw, self.new, after) if after or not before else "",
            ),
            subject=f"{self.new.name}:{member.tag or member.label}" if member else self.new.name,
            verdicts=self._verdicts(rule, before, after, renamed),
            texts=texts or (_show_member(before), _show_member(after)),
            symbols=comparison.symbols(self.new, self.old, *members),
            renamed=renamed,
            sent=(before.tag or "" if before else "", after.tag or "" if after else ""),
            read=self._reads(rule, after),
        )

    def _verdicts(self, rule: str, before: Member | None, after: Member | None, renamed: Renamed | None) -> Verdicts:
        """Return the rule's verdicts; for messages, those that samples of a closed union's member show."""
        verdicts = RULES[rule].verdicts
        if renamed and renamed.until:
            return verdicts.kept()
        if rule == "union-member-retagged" and before and after and before.name == after.name:
            verdicts = verdicts.kept()  # code names the class, not the tag
        old = make_choice(self.comparison.old.schema, self.old, {})
        new = make_choice(self.comparison.new.schema, self.new, {})
        if rule not in _ABOUT_MESSAGES or not (old.has_fallback or new.has_fallback):
            return verdicts
        names = (before.name, after.name) if before and after else ("", "")
        return verdicts.wire(
            rate_member(new, after.name, old, names[0]) if after else SAFE,
            rate_member(old, before.name, new, names[1]) if before else SAFE,
        )

    def _reads(self, rule: str, after: Member | None) -> str:
        """Return a line of code that reads the tag if that changed, or takes only the members that there were."""
        new, names = self.comparison.new.schema, {self.comparison.names.get(member.name) for member in self.old.members}
        if after and isinstance(new.definitions.get(after.name), Model) and names.intersection(new.bases(after.name)):
            return ""  # instances of a member that derives from another one are that one's, too
        if rule == "union-tag-changed":
            return f"value.{self.old.tag}  # value: {self.old.members[0].name}"
        return f"value: {self.old.type.hint} = new  # new: {self.new.name}"

    def _renamed(self, before: Member, after: Member) -> Renamed | None:
        """Return the change of a member's class, unless the old name can't be kept or follows that of the union."""
        comparison = self.comparison
        renamed = comparison.renamed(before.name, after.name)
        follows = self.old.name != self.new.name and before.name == self.old.name + after.label
        is_free = before.name not in comparison.new.schema.definitions
        return renamed if renamed.until or (is_free and not follows) else None

    def _open_members(self) -> list[Member]:
        """Return the open members of both sides, which a finding about the whole union concerns."""
        sides = ((self.comparison.new.schema, self.new), (self.comparison.old.schema, self.old))
        return [member for schema, union in sides for member in union.members if is_open_member(schema, member.name)]


def compare_unions(comparison: Comparison, old: Union, new: Union) -> None:
    """Compare two unions. Nothing is reported for a union whose members come from another union."""
    unions = UnionComparison(comparison, old, new)
    if is_derived(comparison.old.raw, old) and is_derived(comparison.new.raw, new):
        return
    was_open, is_open = is_open_union(comparison.old.schema, old), is_open_union(comparison.new.schema, new)
    if was_open != is_open:
        texts = _show_union(comparison.old.schema, old), _show_union(comparison.new.schema, new)
        unions.add("union-opened" if is_open else "union-closed", texts=texts)
    if old.tag != new.tag and old.tag and new.tag:
        unions.add("union-tag-changed", texts=(old.tag, new.tag))
    if old.exclusive != new.exclusive:
        first, one = "the first member that matches", "exactly one member matches"
        unions.add("union-choice-changed", texts=(first, one) if new.exclusive else (one, first))
    _compare_members(unions, was_open, is_open)


def _compare_members(unions: UnionComparison, was_open: bool, is_open: bool) -> None:
    old, new = _by_key(unions.comparison.old.schema, unions.old), _by_key(unions.comparison.new.schema, unions.new)
    removed = {key: member for key, member in old.items() if key not in new}
    added = {key: member for key, member in new.items() if key not in old}
    was = {
        key: _content_of(unions.comparison.old.schema, member, unions.comparison.names)
        for key, member in removed.items()
    }
    now = {key: _content_of(unions.comparison.new.schema, member, {}) for key, member in added.items()}
    # Members that have another tag or title but the same content, unless that is empty, are the same.
    renamed = pair([*removed], [*added], lambda a, b: was[a] == now[b] != _EMPTY)
    for key, other in renamed.items():
        before, after = removed.pop(key), added.pop(other)
        unions.add("union-member-retagged" if before.tag or after.tag else _RENAMED, before, after)
    for member in added.values():
        unions.add(f"union-{'open' if was_open else 'closed'}-member-added", None, member)
    for member in removed.values():
        unions.add(f"union-{'open' if is_open else 'closed'}-member-removed", member, None)
    for key in [key for key in old if key in new]:
        if unions.comparison.names.get(old[key].name) != new[key].name:
            unions.add(_RENAMED, old[key], new[key])
    olds, news = [key for key in old if key in new], [key for key in new if key in old]
    if olds != news and not unions.new.tag:
        texts = _list_members([old[key] for key in olds]), _list_members([new[key] for key in news])
        unions.add("union-order-changed", texts=texts)


def _by_key(schema: Schema, union: Union) -> dict[str, Member]:
    """Return the members by tag or title, without the open member, which has a rule of its own."""
    kept = [member for member in union.members if not is_open_member(schema, member.name)] or union.members
    return {member.tag or f"title {member.label}": member for member in kept}


def is_open_union(schema: Schema, union: Union) -> bool:
    """Return whether a union accepts unknown members.

    A union of open members alone is itself the open member of another union, and doesn't count as open.
    """
    are_open = [is_open_member(schema, member.name) for member in union.members]
    return any(are_open) and not all(are_open)


def _content_of(schema: Schema, member: Member, names: dict[str, str]) -> tuple[object, ...]:
    """Return the content of a member apart from its tag, in a form that can be compared."""
    definition = schema.definitions[member.name]
    if not isinstance(definition, Model) or definition.pointer == f"/$defs/{definition.name}":
        return (names.get(member.name, member.name),)
    base = names.get(definition.base, definition.base) if definition.base else ""
    own = [(field.wire, *meaning_of_field(field, names)) for field in definition.fields if field.tag is None]
    return (base, *sorted(own, key=str))


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
