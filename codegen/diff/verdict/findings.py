"""Findings: one change, where it is, whom it concerns and how bad it is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from codegen.diff.user_code.failures import Failure
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import Verdict, Verdicts

# Which way a message goes. A definition that messages of both ways hold, or that no message holds, is neither.
TO_AGENT, TO_CLIENT, BOTH, NOWHERE = "client->agent", "agent->client", "both", "none"


@dataclass(frozen=True)
class Finding:
    """One change.

    Attributes:
        rule: its kind, a key of `RULES`.
        profile: the package it is in.
        place: the method on the wire, or the definition.
        old: JSON pointer in the base; empty if there was nothing.
        new: JSON pointer in the head; empty if there is nothing.
        subject: what it is about in words of the wire: a definition, or a definition and a property.
        verdicts: one an axis.
        before: what the base says there.
        after: what the head says there.
        symbols: Python names it concerns.
        flow: which way the messages go that hold it.
        methods: the methods whose messages hold it, by their names on the wire.
        moved: where it is now, or was, if that is in another object; in words of the wire.
        covers: further pointers that changed for the same reason, of the base and of the head.
        reports_only: its profile is a draft or unstable.
        accepted: why it was accepted; empty if it wasn't.
        failures: what user code fails with as the finding says, if any was checked.
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
    moved: str = ""
    covers: tuple[str, ...] = field(default=(), compare=False)
    reports_only: bool = False
    accepted: str = ""
    failures: tuple[Failure, ...] = field(default=(), compare=False)

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that stay the same as long as the same thing changes in the same way."""
        text = "\n".join((self.profile, self.rule, self.subject, self.before, self.after))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def sentence(self) -> str:
        """What happened; of a property that moved, also where to or from."""
        known = RULES[self.rule].sentence
        if not self.moved:
            return known
        return f"{known} It moved {'to' if self.rule.endswith('removed') else 'from'} {self.moved}."

    @property
    def pointer(self) -> str:
        return self.new or self.old

    @property
    def worst(self) -> Verdict:
        return self.verdicts.worst

    @property
    def writers(self) -> tuple[str, ...]:
        """The roles whose code builds it."""
        return {TO_AGENT: ("client",), TO_CLIENT: ("agent",), BOTH: ("agent", "client")}.get(self.flow, ())

    @property
    def readers(self) -> tuple[str, ...]:
        """The roles whose code reads it."""
        return {TO_AGENT: ("agent",), TO_CLIENT: ("client",), BOTH: ("agent", "client")}.get(self.flow, ())

    def doers(self, axis: str) -> tuple[str, ...]:
        """The roles whose code an axis is about; none on the wire, and where no message says who it is."""
        return {"build": self.writers, "read": self.readers, "implement": self.readers}.get(axis, ())
