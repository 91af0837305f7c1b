"""One profile's comparison while it is made: both sides, what corresponds, and the findings so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from codegen.diff.compare.fits import Fits
from codegen.diff.compare.nesting import Nesting
from codegen.diff.compare.reach import Reach, one_flow, reach
from codegen.diff.match.matching import match
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import SAFE, Verdicts
from codegen.ir import Definition, Member

PACKAGE = "acp_bindings"


@dataclass
class Comparison:
    """Two snapshots of a profile and what was found.

    Attributes:
        profile: the package's name.
        names: what each definition of the base is called in the head.
        docs_only: how many descriptions changed where nothing else did.
    """

    profile: str
    old: Snapshot
    new: Snapshot
    findings: list[Finding] = field(default_factory=list[Finding])
    docs_only: int = 0

    def __post_init__(self) -> None:
        self.names = match(self.old.schema, self.new.schema)
        self.backwards = {new: old for old, new in self.names.items()}
        self.envelopes = self.old.schema.envelopes | self.new.schema.envelopes
        self.old_reach, self.new_reach = _reach(self.old), _reach(self.new)
        self.old_nesting, self.new_nesting = Nesting(self.old.schema), Nesting(self.new.schema)
        self.old_to_new = Fits(self.old.schema, self.new.schema, self.names)
        self.new_to_old = Fits(self.new.schema, self.old.schema, self.backwards)

    def pairs(self) -> list[tuple[Definition, Definition]]:
        """The definitions that correspond."""
        old, new = self.old.schema.definitions, self.new.schema.definitions
        return [(old[before], new[after]) for before, after in self.names.items()]

    def symbol(self, *path: str) -> str:
        return ".".join((PACKAGE, self.profile, *path))

    def symbols(self, *named: Definition | Member | None) -> tuple[str, ...]:
        """The classes of what is there, each once."""
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
    ) -> None:
        """Note a finding in a definition, with its verdicts as the rule has them or as given.

        Its symbols are what the definition is called on both sides, unless others are given.
        """
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
            )
        )

    def judge(self, verdicts: Verdicts, before: Definition | None, after: Definition | None) -> Verdicts:
        """Verdicts where they stand: safe on the wire where no message has it, softer where bad values give way."""
        travels = all(
            each is None or each.name in found.flows
            for each, found in ((before, self.old_reach), (after, self.new_reach))
        )
        if not travels:
            return verdicts.wire(SAFE, SAFE)
        return verdicts.softened(
            old_peer=before is not None and self.old_reach.gives_way(before.name),
            new_peer=after is not None and self.new_reach.gives_way(after.name),
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


def merged(findings: list[Finding]) -> list[Finding]:
    """Findings about one place in one: a property that a union has for all members is in each member's class."""
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
