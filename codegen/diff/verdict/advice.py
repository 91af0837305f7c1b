"""What to do about a breaking change, for the roles that it concerns."""

from __future__ import annotations

from fnmatch import fnmatchcase

from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import BREAKING

_OLD = "to peers that haven't upgraded"
# By patterns, of which the first that matches the rule counts: what senders and callers do, what readers and handlers.
_ADVICE = {
    "*-left-stable": ("Stop using it, or use the unstable profile.",) * 2,
    "*-renamed": ("Use its new name.", "Use its new name."),
    "*-old-name-removed": ("Use its new name.", "Use its new name."),
    "property-required-removed": (f"Stop passing it, but still send it {_OLD}.", "Stop reading it."),
    "*-value-removed": ("Stop sending it.", ""),
    "*-removed": ("Stop using it.", "Stop using it."),
    "*-split": ("Use its parts instead.", "Use its parts instead."),
    "*-baseline-*": ("Expect peers that don't have it.", "Implement it."),
    "*-added-baseline": ("Expect peers that don't have it.", "Implement it."),
    "property-*-required": ("Always pass it.", ""),
    "property-required-added": ("Always pass it.", ""),
    "property-became-optional": (f"Still send it {_OLD}.", "Expect that it is missing."),
    "property-default-removed": ("", "Expect that it is missing."),
    "nullable-added": (f"Don't send null {_OLD}.", "Expect None."),
    "nullable-removed": ("Don't pass None.", ""),
    "constraint-loosened": (f"Don't send the newly allowed values {_OLD}.", ""),
    "constraint-*": ("Send only what both versions allow.", ""),
    "*-added": (f"Don't send it {_OLD}.", "Handle it."),
    "*-opened": (f"Don't send others than the listed ones {_OLD}.", "Expect others than the listed ones."),
    "*-closed": ("Send only the listed ones.", "Remove what handles others."),
    "*-shadowed": ("Send only what a single member accepts.", ""),
    "*": ("Send it as it is now.", "Read it as it is now."),
}


def advice(finding: Finding) -> dict[str, str]:
    """Return what to do, by the roles that have to: `agents`, `clients`, or both."""
    verdicts = finding.verdicts
    sends = BREAKING in (verdicts.old_peer, verdicts.new_peer, verdicts.build)
    reads = BREAKING in (verdicts.read, verdicts.implement)
    texts = next(texts for pattern, texts in _ADVICE.items() if fnmatchcase(finding.rule, pattern))
    both = ("agent", "client")
    sides = ((sends, finding.writers or both, texts[0]), (reads, finding.readers or both, texts[1]))
    found: dict[str, list[str]] = {}
    for concerned, roles, text in sides:
        if concerned and text:
            found.setdefault(" and ".join(f"{role}s" for role in roles), []).append(text)
    return {roles: " ".join(dict.fromkeys(sentences)) for roles, sentences in found.items()}


def actors(finding: Finding) -> set[str]:
    """Return the roles that have to do something: `agents`, `clients`."""
    return {role for roles in advice(finding) for role in roles.split(" and ")}
