"""The comparison of one profile: both sides, which definitions correspond, and the findings so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from typing import Any

from codegen.diff.compare.reach import combine_flows, find_reach
from codegen.diff.compare.samples import Sender, accepts_all
from codegen.diff.match import match
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import NOWHERE, Finding, Renamed
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import BREAKING, SAFE, Severity, Verdicts, breaks
from codegen.escaping import one_line
from codegen.ir import Definition, Field, Member, Method, Schema
from codegen.regen import PACKAGE
from codegen.types import Type


@dataclass
class Comparison:
    """Two snapshots of a profile and the findings so far.

    Attributes:
        profile: the profile's name.
        old: the profile in the base.
        new: the profile in the head.
        old_unstable: the unstable schema that goes with it in the base; empty if it is one itself.
        new_unstable: that of the head.
        findings: the findings so far.
        names: the name in the head of each definition of the base that still exists.
        kept: the old names of the head's definitions that generated code keeps.
        told: the definitions that were added or removed with their method, whose finding tells of them.
    """

    profile: str
    old: Snapshot
    new: Snapshot
    old_unstable: Schema
    new_unstable: Schema
    findings: list[Finding] = field(default_factory=list[Finding])
    told: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.names = match(self.old.schema, self.new.schema)
        self.kept = {(old_name.old, old_name.new): old_name.until for old_name in self.new.schema.old_names}
        self.envelopes = self.old.schema.envelopes | self.new.schema.envelopes
        self.old_reach, self.new_reach = find_reach(self.old.schema), find_reach(self.new.schema)
        self.old_sender = Sender(self.old.schema, self.new.schema)
        self.new_sender = Sender(self.new.schema, self.old.schema)

    def pairs(self) -> list[tuple[Definition, Definition]]:
        """Return the definitions that exist on both sides, in pairs, without whole messages."""
        old, new = self.old.schema.definitions, self.new.schema.definitions
        kept = ((before, after) for before, after in self.names.items() if before not in self.envelopes)
        return [(old[before], new[after]) for before, after in kept]

    def renamed(self, before: str, after: str) -> Renamed:
        """Return the change of a definition's name, and how long the head keeps the old one."""
        return Renamed(before, after, self.kept.get((before, after), ""))

    def symbol(self, *path: str) -> str:
        return ".".join((PACKAGE, self.profile, *path))

    def symbols(self, *named: Definition | Member | None) -> tuple[str, ...]:
        """Return the Python names of definitions and union members, each once. None is skipped."""
        return tuple(dict.fromkeys(self.symbol(item.name) for item in named if item))

    def by_structure(self, rule: str, old: str, new: str) -> Verdicts:
        """Return a rule's verdicts with those for messages that hold one definition before and another one after."""
        before, after = Type("ref", old), Type("ref", new)
        gained = not accepts_all(self.new.schema, after, self.old.schema, before, {})
        lost = not accepts_all(self.old.schema, before, self.new.schema, after, {})
        return RULES[rule].verdicts.wire(breaks(gained), breaks(lost))

    def refused(
        self, before: Definition | None, after: Definition | None, sent: tuple[str, str] = ("", "")
    ) -> tuple[str, str]:
        """Return the smallest messages with a definition that an old peer and a new peer refuse; empty if none is."""
        return self.new_sender.message(after, before, sent[1]), self.old_sender.message(before, after, sent[0])

    def add(
        self,
        rule: str,
        before: Definition | None,
        after: Definition | None,
        *,
        pointers: tuple[str, str] | None = None,
        subject: str = "",
        verdicts: Verdicts | None = None,
        texts: tuple[str, str] = ("", ""),
        symbols: tuple[str, ...] = (),
        renamed: Renamed | None = None,
        sent: tuple[str, str] = ("", ""),
        read: str = "",
    ) -> None:
        """Add a finding about a definition.

        By default the pointers are the definition's, the verdicts the rule's, and the symbols its classes. On the wire,
        a change is safe if no message contains the definition, and at most risky if invalid values are tolerated
        wherever it is used.

        Args:
            sent: a text that the messages of both sides have because of it, such as a new value.
            read: a line of old code that reads the changed thing, if it breaks.
        """
        known = after or before
        assert known is not None
        sides = [
            (definition.name, side_reach)
            for definition, side_reach in ((after, self.new_reach), (before, self.old_reach))
            if definition
        ]
        reached = [(name, side_reach) for name, side_reach in sides if name in side_reach.flows]
        judged = (verdicts or RULES[rule].verdicts).softened(
            old_peer=before is not None and self.old_reach.tolerates_invalid(before.name),
            new_peer=after is not None and self.new_reach.tolerates_invalid(after.name),
        )
        judged = judged.wire(SAFE, SAFE) if len(reached) < len(sides) else judged
        methods = tuple(dict.fromkeys(method for name, side_reach in reached for method in side_reach.methods[name]))
        self.record(
            rule,
            known.name,
            pointers or (before.pointer if before else "", after.pointer if after else ""),
            one_line(subject or known.name),
            judged,
            (one_line(texts[0]), one_line(texts[1])),
            symbols=symbols or self.symbols(after, before),
            flow=combine_flows({flow for name, side_reach in reached for flow in side_reach.flows[name]}),
            methods=() if "" in methods else methods,
            renamed=renamed,
            find_refused=lambda: self.refused(before, after, sent),
            find_code=lambda: self._code(judged, before, after, sent[0], renamed.old if renamed else "", read),
        )

    def record(
        self,
        rule: str,
        place: str,
        pointers: tuple[str, str],
        subject: str,
        verdicts: Verdicts | None = None,
        texts: tuple[str, str] = ("", ""),
        **more: Any,
    ) -> None:
        """Add a finding. By default the verdicts are the rule's."""
        verdicts = verdicts or RULES[rule].verdicts
        self.findings.append(Finding(rule, self.profile, place, *pointers, subject, verdicts, *texts, **more))

    def on_wire(self, methods: tuple[str, ...]) -> Severity:
        """Return how bad it is if a change breaks messages of these methods; of all if there are none."""
        every = (*self.old.schema.methods, *self.new.schema.methods)
        baseline = [method for method in every if method.baseline and method.wire in methods]
        if not methods or any(method.entry.get("opens") for method in baseline):
            return Severity.EVERY_PEER
        return Severity.BASELINE if baseline else Severity.WIRE

    def _code(
        self, verdicts: Verdicts, before: Definition | None, after: Definition | None, text: str, gone: str, read: str
    ) -> tuple[str, ...]:
        """Return the smallest code for the base's bindings that no longer works with the head's."""
        if before is None or BREAKING not in (verdicts.build, verdicts.read):
            return ()
        if after is None or gone:
            return (f"from {PACKAGE}.{self.profile} import {gone or before.name}",)
        built = self.old_sender.code(before, after, text) if verdicts.build is BREAKING else ()
        return (*built, *([read] if read and verdicts.read is BREAKING else ()))


def deprecation_texts(old: Definition | Field | Method, new: Definition | Field | Method) -> tuple[str, str]:
    """Return both sides as texts that say what is deprecated."""
    return "deprecated" if old.deprecated else "", "deprecated" if new.deprecated else ""


def join_same_place(findings: list[Finding]) -> list[Finding]:
    """Join findings about the same place: a property that a union's members share is in the class of every member."""
    by_place: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        key = (finding.rule, finding.old, finding.new, finding.before, finding.after)
        first = by_place.get(key)
        by_place[key] = finding if first is None else _join(first, finding)
    return list(by_place.values())


def join_same_change(findings: list[Finding]) -> list[Finding]:
    """Join findings about the same change in several places: the same rule with the same old and new text.

    Findings without texts, such as those of new definitions, are about changes of their own.
    """
    by_change: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        place = () if finding.before or finding.after else (finding.fingerprint,)
        by_change.setdefault((finding.rule, finding.before, finding.after, *place), []).append(finding)
    return [_join_group(group) for group in by_change.values()]


def _join_group(findings: list[Finding]) -> Finding:
    worst_first = sorted(findings, key=lambda finding: -finding.severity)
    same = tuple(worst_first) if len(findings) > 1 else ()
    return replace(reduce(_join, worst_first), same=same)


def _join(first: Finding, other: Finding) -> Finding:
    sent = [finding for finding in (first, other) if finding.flow != NOWHERE]
    methods = [finding.methods for finding in sent]
    return replace(
        first,
        verdicts=first.verdicts.joined(other.verdicts),
        symbols=tuple(dict.fromkeys((*first.symbols, *other.symbols))),
        methods=tuple(dict.fromkeys(chain(*methods))) if all(methods) else (),
        flow=combine_flows({finding.flow for finding in sent}),
    )
