"""A finding: a change, where it is, who is affected, and how bad it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple

from codegen.diff.verdict.rules import RULES, TODO
from codegen.diff.verdict.verdicts import BREAKING, Severity, Verdict, Verdicts

# The direction in which a definition is sent: to one side, both ways, or never.
TO_AGENT, TO_CLIENT, BOTH, NOWHERE = "client->agent", "agent->client", "both", "none"
_BOTH_ROLES = ("agent", "client")
# For each direction, the roles whose code builds a definition, and the roles whose code reads it.
_ROLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    TO_AGENT: (("client",), ("agent",)),
    TO_CLIENT: (("agent",), ("client",)),
    BOTH: (_BOTH_ROLES, _BOTH_ROLES),
    NOWHERE: ((), ()),
}


@dataclass(frozen=True)
class Failure:
    """A line of user code that passes the type checker with the base's package, and fails with the head's.

    Attributes:
        file: the path in the repository.
        line: the line number, from 1.
        source: the line itself, without indentation.
        message: the type checker's message.
    """

    file: str
    line: int
    source: str
    message: str

    @property
    def sentence(self) -> str:
        """The place and the message, on one line."""
        return f"{self.file}:{self.line}: {' '.join(self.message.split())}"


class Renamed(NamedTuple):
    """A definition whose name changed.

    Attributes:
        old: the old name.
        new: the new name.
        until: the version of this package until which the head keeps the old name; empty if it doesn't.
        equal: how many of its parts are equal, such as "3 of 4 properties"; empty if all are.
    """

    old: str
    new: str
    until: str = ""
    equal: str = ""


@dataclass(frozen=True)
class Finding:
    """A change.

    Attributes:
        rule: the kind of change, a key of `RULES`.
        profile: the profile that changed.
        place: the method or definition that changed, by its wire name.
        old_pointer: its JSON pointer in the base; empty if it is new.
        new_pointer: its JSON pointer in the head; empty if it was removed.
        subject: what changed, in names of the schema: a method, `Definition`, `Definition.property` or `Union:tag`.
        verdicts: a verdict for each axis.
        before: the old text, such as a property with its type.
        after: the new text.
        symbols: the Python names that are affected.
        flow: the direction of the messages that contain it.
        methods: the methods whose messages contain it, by their wire names; empty if it is in every message.
        renamed: the change of a definition's name, if an entry in `renames.toml` can keep the old name.
        wire_severity: how severe it is if it breaks messages, which depends on the methods.
        reports_only: whether the profile is unstable or a draft.
        accepted: the reason for accepting it; empty if it isn't accepted.
        failures: the failures of user code that it predicts.
        find_refused: computes the property `refused`, which is slow.
        find_code: computes the property `code`, which is slow.
        same: the findings of all places, the worst first, if the same change was made in several.
    """

    rule: str
    profile: str
    place: str
    old_pointer: str
    new_pointer: str
    subject: str
    verdicts: Verdicts
    before: str = ""
    after: str = ""
    symbols: tuple[str, ...] = ()
    flow: str = NOWHERE
    methods: tuple[str, ...] = ()
    renamed: Renamed | None = None
    wire_severity: Severity = Severity.EVERY_PEER
    reports_only: bool = False
    accepted: str = ""
    failures: tuple[Failure, ...] = field(default=(), compare=False)
    find_refused: Callable[[], tuple[str, str]] = field(default=lambda: ("", ""), compare=False, repr=False)
    find_code: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False, repr=False)
    same: tuple[Finding, ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        """Twelve hex digits that identify the change: they stay the same if the same things change in the same way."""
        text = "\n".join((self.profile, self.rule, *sorted(self.subjects), self.before, self.after))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @cached_property
    def refused(self) -> tuple[str, str]:
        """The smallest messages that an old peer and a new peer refuse, as JSON; empty for peers that don't break."""
        if not self.breaks_wire:
            return "", ""
        by_old_peer, by_new_peer = self.find_refused()
        return (
            by_old_peer if self.verdicts.old_peer is BREAKING else "",
            by_new_peer if self.verdicts.new_peer is BREAKING else "",
        )

    @cached_property
    def code(self) -> tuple[str, ...]:
        """The smallest lines of Python that work with the base's bindings, and not with the head's."""
        return self.find_code()

    @property
    def places(self) -> tuple[Finding, ...]:
        """The findings of all places, the worst first."""
        return self.same or (self,)

    @property
    def subjects(self) -> list[str]:
        """What changed in each place, the worst first."""
        return [place.subject for place in self.places]

    @property
    def sentence(self) -> str:
        """The rule's sentence. For a rename, it also says how certain it is, and how long the old name is kept."""
        if self.rule.endswith("-deprecated"):
            return "It is no longer deprecated." if self.before else "It is deprecated now."
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
        return max(self.verdicts)

    @property
    def severity(self) -> Severity:
        return self.wire_severity if self.breaks_wire else Severity(self.worst)

    @property
    def breaks_wire(self) -> bool:
        """Whether it breaks messages between peers of different versions."""
        return BREAKING in self.verdicts[:2]

    @property
    def breaks_python(self) -> bool:
        """Whether it breaks Python code that builds, reads or implements the changed thing."""
        return BREAKING in self.verdicts[2:]

    @property
    def writers(self) -> tuple[str, ...]:
        """The roles whose code builds the changed object."""
        return _ROLES[self.flow][0]

    @property
    def readers(self) -> tuple[str, ...]:
        """The roles whose code reads the changed object."""
        return _ROLES[self.flow][1]

    @property
    def todo(self) -> dict[str, str]:
        """What to do if it breaks, for `agents`, `clients`, or `agents and clients`."""
        for_writers, for_readers = next(texts for pattern, texts in TODO.items() if fnmatchcase(self.rule, pattern))
        writers = " and ".join(f"{role}s" for role in self.writers or _BOTH_ROLES)
        readers = " and ".join(f"{role}s" for role in self.readers or _BOTH_ROLES)
        texts: dict[str, list[str]] = {}
        if for_writers and (self.breaks_wire or self.verdicts.build is BREAKING):
            texts[writers] = [for_writers]
        if for_readers and BREAKING in (self.verdicts.read, self.verdicts.implement):
            texts.setdefault(readers, []).append(for_readers)
        return {roles: " ".join(dict.fromkeys(sentences)) for roles, sentences in texts.items()}

    @property
    def change(self) -> str:
        """The old and the new text on one line."""
        if self.before and self.after:
            return f"{self.before} -> {self.after}"
        if self.before:
            return f"- {self.before}"
        return f"+ {self.after}" if self.after else ""
