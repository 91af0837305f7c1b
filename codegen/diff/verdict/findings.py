"""A finding: one change, where it is, who is affected, and how bad it is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from codegen.diff.verdict.failures import Failure
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import BREAKING, Severity, Verdict, Verdicts

# The axes on Python code, which keeping the old name of a renamed thing makes safe.
_PYTHON = ("build", "read", "implement")

# The direction in which a definition is sent: to one side, both ways, or not at all.
TO_AGENT, TO_CLIENT, BOTH, NOWHERE = "client->agent", "agent->client", "both", "none"


class Renamed(NamedTuple):
    """A definition whose name changed.

    Attributes:
        old: the old name.
        new: the new name.
        until: the version of this package up to which the head keeps the old name; empty if it doesn't keep it.
        equal: how many of its parts are the same; empty if all are.
    """

    old: str
    new: str
    until: str = ""
    equal: str = ""


@dataclass(frozen=True)
class Finding:
    """One change.

    Attributes:
        rule: the kind of change, a key of `RULES`.
        profile: the profile that changed.
        place: the method or definition that changed, by its name on the wire.
        old: its JSON pointer in the base; empty if it wasn't there.
        new: its JSON pointer in the head; empty if it is no longer there.
        subject: the changed thing in names of the schema: a method, `Definition`, `Definition.property`, `Union:tag`.
        verdicts: one for each axis.
        before: the old text, such as a property with its type.
        after: the new text.
        symbols: the Python names that are affected.
        flow: the direction of the messages that contain it.
        methods: the methods whose messages contain it, by their names on the wire; none if it is in every message.
        renamed: the definition that has another name, if code can keep the old one by an entry in `renames.toml`.
        on_wire: how bad it is if it breaks messages, which depends on the methods.
        reports_only: whether the profile is unstable or a draft.
        accepted: the reason for accepting it; empty if it isn't accepted.
        failures: the failures of user code that this finding predicts.
        refused: for `old_peer` and `new_peer`, if that breaks, the smallest message that such a peer refuses, as JSON.
        code: the smallest lines of Python that worked with the base's bindings and no longer do.
        same: the findings of each place, the worst first, if the same change was made in several.
    """

    rule: str
    profile: str
    place: str
    old: str
    new: str
    subject: str
    verdicts: Verdicts
    before: str = ""
    after: str = ""
    symbols: tuple[str, ...] = ()
    flow: str = NOWHERE
    methods: tuple[str, ...] = ()
    renamed: Renamed | None = None
    on_wire: Severity = Severity.EVERY_PEER
    reports_only: bool = False
    accepted: str = ""
    failures: tuple[Failure, ...] = field(default=(), compare=False)
    refused: tuple[str, str] = field(default=("", ""), compare=False)
    code: tuple[str, ...] = field(default=(), compare=False)
    same: tuple[Finding, ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        """Twelve hex digits that stay the same as long as the same things change in the same way."""
        text = "\n".join((self.profile, self.rule, *sorted(self.subjects), self.before, self.after))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def places(self) -> tuple[Finding, ...]:
        """The finding of each place, the worst first."""
        return self.same or (self,)

    @property
    def subjects(self) -> list[str]:
        """What changed in each place, the worst first."""
        return [each.subject for each in self.places]

    @property
    def title(self) -> str:
        """What changed in the worst place, and in how many others."""
        return f"{self.subject} and {len(self.same) - 1} more" if self.same else self.subject

    @property
    def sentence(self) -> str:
        """The rule's sentence, and about a rename how sure it is and how long the old name is kept."""
        sentence = RULES[self.rule].sentence
        if not self.renamed:
            return sentence
        if self.renamed.equal:
            sentence = f"Maybe renamed ({self.renamed.equal} equal)."
        if not self.renamed.until:
            return sentence
        return f"{sentence} Python code can use the old name until {self.renamed.until}."

    @property
    def worst(self) -> Verdict:
        return self.verdicts.worst

    @property
    def severity(self) -> Severity:
        if BREAKING in (self.verdicts.old_peer, self.verdicts.new_peer):
            return self.on_wire
        return {Verdict.SAFE: Severity.SAFE, Verdict.RISKY: Severity.RISKY}.get(self.worst, Severity.PYTHON)

    @property
    def breaks_python(self) -> bool:
        """Whether Python code that builds, reads or implements the changed thing breaks."""
        return any(self.verdicts.by_axis()[axis] is Verdict.BREAKING for axis in _PYTHON)

    @property
    def writers(self) -> tuple[str, ...]:
        """The roles whose code builds the changed object."""
        return {TO_AGENT: ("client",), TO_CLIENT: ("agent",), BOTH: ("agent", "client")}.get(self.flow, ())

    @property
    def readers(self) -> tuple[str, ...]:
        """The roles whose code reads the changed object."""
        return {TO_AGENT: ("agent",), TO_CLIENT: ("client",), BOTH: ("agent", "client")}.get(self.flow, ())

    def roles(self, axis: str) -> tuple[str, ...]:
        """Return the roles whose Python code an axis is about; none if that is clear, or if no message contains it."""
        return {"build": self.writers, "read": self.readers}.get(axis, ())
