"""A finding: one change, where it is, who is affected, and how bad it is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from codegen.diff.user_code.failures import Failure
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import Verdict, Verdicts

# The direction in which a definition is sent: to one side, both ways, or not at all.
TO_AGENT, TO_CLIENT, BOTH, NOWHERE = "client->agent", "agent->client", "both", "none"


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
        methods: the methods whose messages contain it, by their names on the wire.
        moved: the path of a property's new or old place in another object; empty if it didn't move.
        covers: further pointers that changed for the same reason, in the base and in the head.
        reports_only: whether the profile is unstable or a draft.
        accepted: the reason for accepting it; empty if it isn't accepted.
        failures: the failures of user code that this finding predicts.
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
        """The rule's sentence, and where a property moved to or from."""
        sentence = RULES[self.rule].sentence
        if not self.moved:
            return sentence
        return f"{sentence} It moved {'to' if self.rule.endswith('removed') else 'from'} {self.moved}."

    @property
    def pointer(self) -> str:
        return self.new or self.old

    @property
    def worst(self) -> Verdict:
        return self.verdicts.worst

    @property
    def writers(self) -> tuple[str, ...]:
        """The roles whose code builds the changed object."""
        return {TO_AGENT: ("client",), TO_CLIENT: ("agent",), BOTH: ("agent", "client")}.get(self.flow, ())

    @property
    def readers(self) -> tuple[str, ...]:
        """The roles whose code reads the changed object."""
        return {TO_AGENT: ("agent",), TO_CLIENT: ("client",), BOTH: ("agent", "client")}.get(self.flow, ())

    def roles(self, axis: str) -> tuple[str, ...]:
        """Return the roles whose Python code an axis is about: none for the wire, or if no message contains it."""
        return {"build": self.writers, "read": self.readers, "implement": self.readers}.get(axis, ())
