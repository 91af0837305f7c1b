"""A finding: one change, where it is, who is affected, and how bad it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple

from codegen.diff.verdict.rules import RULES, TODO
from codegen.diff.verdict.verdicts import BREAKING, Severity, Verdict, Verdicts

# The direction in which a definition is sent: to one side, both ways, or not at all.
TO_AGENT, TO_CLIENT, BOTH, NOWHERE = "client->agent", "agent->client", "both", "none"
_BOTH_ROLES = ("agent", "client")
# By the direction, the roles whose code builds a definition, and those whose code reads it.
_ROLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    TO_AGENT: (("client",), ("agent",)),
    TO_CLIENT: (("agent",), ("client",)),
    BOTH: (_BOTH_ROLES, _BOTH_ROLES),
    NOWHERE: ((), ()),
}


@dataclass(frozen=True)
class Failure:
    """A line of user code that passes the type checker with the base's package and fails with the head's.

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
        find_refused, find_code: find what `refused` and `code` return. That takes long.
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
    find_refused: Callable[[], tuple[str, str]] = field(default=lambda: ("", ""), compare=False, repr=False)
    find_code: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False, repr=False)
    same: tuple[Finding, ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        """Twelve hex digits that stay the same as long as the same things change in the same way."""
        text = "\n".join((self.profile, self.rule, *sorted(self.subjects), self.before, self.after))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @cached_property
    def refused(self) -> tuple[str, str]:
        """For `old_peer` and `new_peer`, if that breaks, the smallest message that such a peer refuses, as JSON."""
        old_peer, new_peer = self.find_refused() if self.breaks_wire else ("", "")
        breaks = self.verdicts.old_peer is BREAKING, self.verdicts.new_peer is BREAKING
        return old_peer if breaks[0] else "", new_peer if breaks[1] else ""

    @cached_property
    def code(self) -> tuple[str, ...]:
        """The smallest lines of Python that worked with the base's bindings and no longer do."""
        return self.find_code()

    @property
    def places(self) -> tuple[Finding, ...]:
        """The finding of each place, the worst first."""
        return self.same or (self,)

    @property
    def subjects(self) -> list[str]:
        """What changed in each place, the worst first."""
        return [place.subject for place in self.places]

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
        return max(self.verdicts)

    @property
    def severity(self) -> Severity:
        return self.on_wire if self.breaks_wire else Severity(self.worst)

    @property
    def breaks_wire(self) -> bool:
        """Whether peers of different versions break."""
        return BREAKING in self.verdicts[:2]

    @property
    def breaks_python(self) -> bool:
        """Whether Python code that builds, reads or implements the changed thing breaks."""
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
        """What to do if it breaks, by the roles that have to: `agents`, `clients`, or `agents and clients`."""
        texts = next(texts for pattern, texts in TODO.items() if fnmatchcase(self.rule, pattern))
        sends = self.breaks_wire or self.verdicts.build is BREAKING
        reads = BREAKING in (self.verdicts.read, self.verdicts.implement)
        texts_by_roles: dict[str, list[str]] = {}
        for concerned, roles, text in ((sends, self.writers, texts[0]), (reads, self.readers, texts[1])):
            if concerned and text:
                texts_by_roles.setdefault(" and ".join(f"{role}s" for role in roles or _BOTH_ROLES), []).append(text)
        return {roles: " ".join(dict.fromkeys(sentences)) for roles, sentences in texts_by_roles.items()}

    @property
    def change(self) -> str:
        """The old and the new text on one line."""
        if self.before and self.after:
            return f"{self.before} -> {self.after}"
        return f"- {self.before}" if self.before else f"+ {self.after}" if self.after else ""
