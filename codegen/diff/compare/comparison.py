"""The comparison of a profile: both sides, their matching definitions, and the findings so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from typing import Any

from codegen.diff.compare.places import find_gates
from codegen.diff.compare.reach import combine_flows, find_reach
from codegen.diff.compare.samples import Sender, accepts_all
from codegen.diff.match import match
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import NOWHERE, Finding, Renamed
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import BREAKING, SAFE, Severity, Verdicts, breaks
from codegen.escaping import one_line
from codegen.ir import Definition, Field, Member, Method, Schema
from codegen.read.docs import split_sentences
from codegen.read.vocabulary import DEPRECATED
from codegen.regen import PACKAGE
from codegen.types import Type


@dataclass
class Comparison:
    """Two snapshots of a profile, and the findings so far.

    Attributes:
        profile: the profile's name.
        old: the profile in the base.
        new: the profile in the head.
        old_unstable: the base's schema of the unstable counterpart; empty if the profile is unstable itself.
        new_unstable: the head's schema of the unstable counterpart.
        findings: the findings so far.
        named_by_methods: definitions that were added or removed with a method, whose finding names them.
        names: the names of the base's definitions in the head, without removed ones.
        gates: the new capabilities that parts of messages require, by the names of the parts: the definition of a
            union's member, `Definition.property` or `Enum.value`.
        old_gates: the removed capabilities that parts of the base's messages required.
        kept_until: how long generated code keeps old names, by old and new name.
    """

    profile: str
    old: Snapshot
    new: Snapshot
    old_unstable: Schema
    new_unstable: Schema
    findings: list[Finding] = field(default_factory=list[Finding])
    named_by_methods: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.names = match(self.old.schema, self.new.schema)
        self.kept_until = {(old_name.old, old_name.new): old_name.until for old_name in self.new.schema.old_names}
        self.envelopes = self.old.schema.envelopes | self.new.schema.envelopes
        self.old_reach = find_reach(self.old.schema)
        self.new_reach = find_reach(self.new.schema)
        self.gates = find_gates(self.old.schema, self.new.schema)
        self.old_gates = find_gates(self.new.schema, self.old.schema)
        self.old_sender = Sender(self.old.schema, self.new.schema)
        self.new_sender = Sender(self.new.schema, self.old.schema)

    def find_pairs(self) -> list[tuple[Definition, Definition]]:
        """Return the definitions that both sides have, in pairs, without whole messages."""
        old, new = self.old.schema.definitions, self.new.schema.definitions
        return [(old[before], new[after]) for before, after in self.names.items() if before not in self.envelopes]

    def describe_rename(self, before: str, after: str) -> Renamed:
        """Return the change of a definition's name, and how long the head keeps the old name."""
        return Renamed(before, after, self.kept_until.get((before, after), ""))

    def python_name(self, *path: str) -> str:
        return ".".join((PACKAGE, self.profile, *path))

    def python_names(self, *items: Definition | Member | None) -> tuple[str, ...]:
        """Return the Python names of definitions and union members, without duplicates. None is skipped."""
        return tuple(dict.fromkeys(self.python_name(item.name) for item in items if item))

    def rate_replacement(self, rule: str, old: str, new: str) -> Verdicts:
        """Return the rule's verdicts, adjusted for messages whose definition was replaced by another one."""
        before, after = Type("ref", old), Type("ref", new)
        gained = not accepts_all(self.new.schema, after, self.old.schema, before, {})
        lost = not accepts_all(self.old.schema, before, self.new.schema, after, {})
        return RULES[rule].verdicts.with_wire(breaks(gained), breaks(lost))

    def apply_gates(
        self, verdicts: Verdicts, texts: tuple[str, str], old_part: str = "", new_part: str = ""
    ) -> tuple[Verdicts, tuple[str, str]]:
        """Return verdicts and texts, given the capability that a removed or a new part of messages requires.

        The parts have the names that `gates` and `old_gates` use. They are empty if nothing was removed or is new.
        """
        old_gate, gate = self.old_gates.get(old_part, ""), self.gates.get(new_part, "")
        before, after = texts
        return verdicts.gated(gate, old_gate), (_add_gate(before, old_gate), _add_gate(after, gate))

    def find_refused(
        self, before: Definition | None, after: Definition | None, sent_texts: tuple[str, str] = ("", "")
    ) -> tuple[str, str]:
        """Return the smallest messages with a definition that an old peer and a new peer refuse; empty if none."""
        old_text, new_text = sent_texts
        refused_by_old = self.new_sender.find_message(after, before, new_text)
        refused_by_new = self.old_sender.find_message(before, after, old_text)
        return refused_by_old, refused_by_new

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
        sent_texts: tuple[str, str] = ("", ""),
        reading_code: str = "",
    ) -> None:
        """Add a finding about a definition.

        By default the pointers are the definition's, the verdicts the rule's, and the symbols its classes. On the wire,
        a change is safe if no message contains the definition, and at most risky if invalid values are tolerated
        wherever the definition is used.

        Args:
            sent_texts: for both sides, a text that is in messages because of the change, such as a new value.
            reading_code: a line of code for the base's bindings that reads the changed thing, if that breaks.
        """
        definition = after or before
        assert definition is not None
        sides = [(after, self.new_reach), (before, self.old_reach)]
        present = [(side.name, reach) for side, reach in sides if side]
        reached = [(name, reach) for name, reach in present if name in reach.flows]
        rated = (verdicts or RULES[rule].verdicts).softened(
            old_peer=before is not None and self.old_reach.tolerates_invalid(before.name),
            new_peer=after is not None and self.new_reach.tolerates_invalid(after.name),
        )
        if len(reached) < len(present):
            rated = rated.with_wire(SAFE, SAFE)
        methods = tuple(dict.fromkeys(method for name, reach in reached for method in reach.methods[name]))
        old_name = renamed.old if renamed else ""
        self.record(
            rule=rule,
            place=definition.name,
            pointers=pointers or (before.pointer if before else "", after.pointer if after else ""),
            subject=one_line(subject or definition.name),
            verdicts=rated,
            texts=(one_line(texts[0]), one_line(texts[1])),
            symbols=symbols or self.python_names(after, before),
            flow=combine_flows({flow for name, reach in reached for flow in reach.flows[name]}),
            methods=() if "" in methods else methods,
            renamed=renamed,
            find_refused=lambda: self.find_refused(before, after, sent_texts),
            find_code=lambda: self._find_code(rated, before, after, sent_texts[0], old_name, reading_code),
        )

    def record(
        self,
        rule: str,
        place: str,
        pointers: tuple[str, str],
        subject: str,
        verdicts: Verdicts | None = None,
        texts: tuple[str, str] = ("", ""),
        **options: Any,
    ) -> None:
        """Add a finding. By default the verdicts are the rule's. `options` are further attributes of the finding."""
        finding = Finding(
            rule=rule,
            profile=self.profile,
            place=place,
            old_pointer=pointers[0],
            new_pointer=pointers[1],
            subject=subject,
            verdicts=verdicts or RULES[rule].verdicts,
            before=texts[0],
            after=texts[1],
            **options,
        )
        self.findings.append(finding)

    def rate_severity(self, methods: tuple[str, ...]) -> Severity:
        """Return how severe a change is that breaks messages of these methods; without methods, of all messages."""
        all_methods = (*self.old.schema.methods, *self.new.schema.methods)
        baseline = [method for method in all_methods if method.baseline and method.wire in methods]
        if not methods or any(method.entry.get("opens") for method in baseline):
            return Severity.EVERY_PEER
        return Severity.BASELINE if baseline else Severity.WIRE

    def _find_code(
        self,
        verdicts: Verdicts,
        before: Definition | None,
        after: Definition | None,
        sent_text: str,
        old_name: str,
        reading_code: str,
    ) -> tuple[str, ...]:
        """Return the smallest code for the base's bindings that doesn't work with the head's."""
        if before is None or BREAKING not in (verdicts.build, verdicts.read):
            return ()
        if after is None or old_name:
            return (f"from {PACKAGE}.{self.profile} import {old_name or before.name}",)
        lines = list(self.old_sender.find_code(before, after, sent_text)) if verdicts.build is BREAKING else []
        if reading_code and verdicts.read is BREAKING:
            lines.append(reading_code)
        return tuple(lines)


def _add_gate(text: str, gate: str) -> str:
    return f"{text}, needs {gate}" if gate else text


def note_deprecation(
    old: Definition | Field | Member | Method, new: Definition | Field | Member | Method
) -> tuple[str, str]:
    """Return both texts of a finding about a new or a removed deprecation.

    The text of a new one has the sentences that were added to the description.
    """
    if old.deprecated:
        return "deprecated", ""
    known = {DEPRECATED, *split_sentences(old.doc)}
    added = [sentence for sentence in split_sentences(new.doc) if sentence not in known]
    return "", " ".join(["deprecated:", *added]) if added else "deprecated"


def join_same_place(findings: list[Finding]) -> list[Finding]:
    """Join findings about the same place, such as a property of a union, which is in the class of every member."""
    by_place: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        key = (finding.rule, finding.old_pointer, finding.new_pointer, finding.before, finding.after)
        first = by_place.get(key)
        by_place[key] = finding if first is None else _join(first, finding)
    return list(by_place.values())


def join_same_change(findings: list[Finding]) -> list[Finding]:
    """Join findings about the same change in several places: the same rule, with the same old and new texts.

    Findings without texts, such as those about new definitions, are not joined.
    """
    by_change: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in findings:
        place = "" if finding.before or finding.after else finding.fingerprint
        by_change.setdefault((finding.rule, finding.before, finding.after, place), []).append(finding)
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
