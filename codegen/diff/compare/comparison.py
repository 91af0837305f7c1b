"""The comparison of one profile: both sides, which definitions correspond, and the findings so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from codegen.diff.compare.compatibility import Compatibility
from codegen.diff.compare.nesting import Nesting
from codegen.diff.compare.pointers import references
from codegen.diff.compare.reach import Reach, one_flow, reach
from codegen.diff.match.renames import match
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import Finding, Renamed
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import SAFE, Verdicts
from codegen.ir import Definition, Member

PACKAGE = "acp_bindings"


@dataclass
class Comparison:
    """Two snapshots of a profile and the findings so far.

    Attributes:
        profile: the profile's name.
        old: the profile in the base.
        new: the profile in the head.
        findings: the findings so far.
        names: the name in the head of each definition of the base that still exists.
        old_names: the reverse of `names`.
        kept: the old names of the head's definitions that generated code keeps.
    """

    profile: str
    old: Snapshot
    new: Snapshot
    findings: list[Finding] = field(default_factory=list[Finding])

    def __post_init__(self) -> None:
        self.names = match(self.old.schema, self.new.schema)
        self.old_names = {new: old for old, new in self.names.items()}
        self.kept = {(each.old, each.new): each.until for each in self.new.schema.old_names}
        self.envelopes = self.old.schema.envelopes | self.new.schema.envelopes
        self.old_reach, self.new_reach = _reach(self.old), _reach(self.new)
        self.old_nesting, self.new_nesting = Nesting(self.old.schema), Nesting(self.new.schema)
        self.old_to_new = Compatibility(self.old.schema, self.new.schema, self.names)
        self.new_to_old = Compatibility(self.new.schema, self.old.schema, self.old_names)

    @cached_property
    def old_references(self) -> dict[str, list[str]]:
        """The pointers of the references to each definition of the base."""
        return references(self.old.raw)

    @cached_property
    def new_references(self) -> dict[str, list[str]]:
        """The pointers of the references to each definition of the head."""
        return references(self.new.raw)

    def pairs(self) -> list[tuple[Definition, Definition]]:
        """Return the definitions that exist on both sides, in pairs."""
        old, new = self.old.schema.definitions, self.new.schema.definitions
        return [(old[before], new[after]) for before, after in self.names.items()]

    def renamed(self, before: str, after: str) -> Renamed:
        """Return the change of a definition's name, and how long the head keeps the old one."""
        return Renamed("definition", "", before, after, self.kept.get((before, after), ""))

    def symbol(self, *path: str) -> str:
        return ".".join((PACKAGE, self.profile, *path))

    def symbols(self, *named: Definition | Member | None) -> tuple[str, ...]:
        """Return the Python names of definitions and union members, each once. None is skipped."""
        return tuple(dict.fromkeys(self.symbol(each.name) for each in named if each))

    def add(
        self,
        rule: str,
        before: Definition | None,
        after: Definition | None,
        *,
        old: str = "",
        new: str = "",
        subject: str = "",
        verdicts: Verdicts | None = None,
        texts: tuple[str, str] = ("", ""),
        symbols: tuple[str, ...] = (),
        covers: tuple[str, ...] = (),
        moved: str = "",
        renamed: Renamed | None = None,
    ) -> None:
        """Add a finding about a definition. By default the verdicts are the rule's, and the symbols its classes."""
        known = after or before
        assert known is not None
        self.findings.append(
            Finding(
                rule=rule,
                profile=self.profile,
                place=known.name,
                old=old,
                new=new,
                subject=subject or known.name,
                verdicts=self.judge(verdicts or RULES[rule].verdicts, before, after),
                before=texts[0],
                after=texts[1],
                symbols=symbols or self.symbols(after, before),
                flow=self._flow(before, after),
                methods=self._methods(before, after),
                covers=covers,
                moved=moved,
                renamed=renamed,
            )
        )

    def judge(self, verdicts: Verdicts, before: Definition | None, after: Definition | None) -> Verdicts:
        """Adapt verdicts to where a definition is used.

        On the wire, a change is safe if no message contains the definition, and at most risky if invalid values are
        tolerated wherever it is used.
        """
        is_sent = all(
            each is None or each.name in found.flows
            for each, found in ((before, self.old_reach), (after, self.new_reach))
        )
        if not is_sent:
            return verdicts.wire(SAFE, SAFE)
        return verdicts.softened(
            old_peer=before is not None and self.old_reach.tolerates_invalid(before.name),
            new_peer=after is not None and self.new_reach.tolerates_invalid(after.name),
        )

    def _flow(self, before: Definition | None, after: Definition | None) -> str:
        old = self.old_reach.flows.get(before.name, set()) if before else set[str]()
        new = self.new_reach.flows.get(after.name, set()) if after else set[str]()
        return one_flow(old | new)

    def _methods(self, before: Definition | None, after: Definition | None) -> tuple[str, ...]:
        old = self.old_reach.methods.get(before.name, {}) if before else {}
        new = self.new_reach.methods.get(after.name, {}) if after else {}
        return tuple({**new, **old})


def _reach(snapshot: Snapshot) -> Reach:
    return reach(snapshot.schema, snapshot.schema.envelopes)


def merge(findings: list[Finding]) -> list[Finding]:
    """Join findings about the same place: a property that a union's members share is in the class of every member."""
    found: dict[tuple[str, ...], Finding] = {}
    for each in findings:
        key = (each.rule, each.old, each.new, each.before, each.after)
        first = found.get(key)
        found[key] = each if first is None else _joined(first, each)
    return list(found.values())


def _joined(first: Finding, other: Finding) -> Finding:
    worst = (max(pair) for pair in zip(first.verdicts.values, other.verdicts.values, strict=True))
    return replace(
        first,
        verdicts=Verdicts(*worst),
        symbols=tuple(dict.fromkeys((*first.symbols, *other.symbols))),
        methods=tuple(dict.fromkeys((*first.methods, *other.methods))),
        flow=one_flow({each for each in (first.flow, other.flow) if each != "none"})
        if first.flow != other.flow
        else first.flow,
        covers=tuple(dict.fromkeys((*first.covers, *other.covers))),
    )
