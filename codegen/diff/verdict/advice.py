"""What to do about a breaking change, for the roles that it concerns."""

from __future__ import annotations

from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import BREAKING

_LATER = "to peers that haven't upgraded"
# For each rule that can be breaking, what the senders (callers) and the readers (handlers) do; empty if nothing.
ADVICE: dict[str, tuple[str, str]] = {
    "profile-removed": ("Use another profile.", "Use another profile."),
    "method-added-baseline": ("Don't call it yet on peers that haven't upgraded.", "Implement it."),
    "method-baseline-gained": ("Don't rely on it yet where peers haven't upgraded.", "Implement it."),
    "method-baseline-lost": ("Expect peers that don't have it.", ""),
    "method-removed": ("Stop calling it.", "Remove its handler."),
    "method-removed-baseline": ("Stop calling it.", "Remove its handler."),
    "method-left-stable": ("Stop calling it, or use the unstable profile.", "Remove its handler."),
    "method-renamed": ("Call it by its new name.", "Rename its handler."),
    "method-old-name-removed": ("Call it by its new name.", ""),
    "method-side-changed": ("Move its calls and handlers to the other side.", ""),
    "method-kind-changed": ("Call it as what it is now.", "Handle it as what it is now."),
    "method-params-changed": ("Pass what `{after}` has.", "Read `{after}` instead."),
    "method-result-changed": ("Read `{after}` instead.", "Return `{after}` instead."),
    "definition-removed": ("Stop using it.", "Stop using it."),
    "definition-split": ("Use its parts instead.", "Use its parts instead."),
    "definition-renamed": ("Use its new name.", "Use its new name."),
    "definition-old-name-removed": ("Use its new name.", "Use its new name."),
    "definition-left-stable": ("Stop using it, or use the unstable profile.",) * 2,
    "definition-kind-changed": ("Build the kind of type that it is now.", "Read the kind of type that it is now."),
    "property-required-added": ("Always pass it.", ""),
    "property-optional-removed": ("Stop passing it.", "Stop reading it."),
    "property-required-removed": (f"Stop passing it, but still send it {_LATER}.", "Stop reading it."),
    "property-optional-renamed": ("Pass it by its new name.", "Read it by its new name."),
    "property-required-renamed": ("Pass it by its new name.", "Read it by its new name."),
    "property-became-required": ("Always pass it.", ""),
    "property-became-optional": (f"Still send it {_LATER}.", "Expect that it is missing."),
    "property-default-removed": ("", "Expect that it is missing."),
    "nullable-added": (f"Don't send null {_LATER}.", "Expect None."),
    "nullable-removed": ("Don't pass None.", ""),
    "type-changed": ("Pass the new type.", "Read the new type."),
    "constraint-loosened": (f"Don't send the newly allowed values {_LATER}.", ""),
    "constraint-tightened": ("Send only what is still allowed.", ""),
    "constraint-changed": ("Send only what both versions allow.", ""),
    "enum-closed-value-added": (f"Don't send it {_LATER}.", "Handle it."),
    "enum-closed-value-removed": ("Stop sending it.", ""),
    "enum-opened": (f"Don't send other values {_LATER}.", "Expect other values."),
    "enum-closed": ("Send only the listed values.", ""),
    "union-closed-member-added": (f"Don't send it {_LATER}.", "Handle it."),
    "union-closed-member-removed": ("Stop sending it.", "Remove what handles it."),
    "union-open-member-removed": ("Stop sending it.", "Remove what handles it."),
    "union-member-renamed": ("Use its new name.", "Use its new name."),
    "union-member-retagged": (f"Use the class of the new tag, but not {_LATER}.", "Read the class of the new tag."),
    "union-opened": (f"Don't send other members {_LATER}.", "Expect other members."),
    "union-closed": ("Send only the listed members.", "Remove what handles other members."),
    "union-tag-changed": (f"Don't send any member {_LATER}.", "Read the new tag."),
}


def advice(finding: Finding) -> dict[str, str]:
    """Return what to do, by the roles that have to: `agents`, `clients`, or both."""
    verdicts = finding.verdicts
    sends = BREAKING in (verdicts.old_peer, verdicts.new_peer, verdicts.build)
    reads = BREAKING in (verdicts.read, verdicts.implement)
    texts = [text.format(after=finding.after) for text in ADVICE.get(finding.rule, ("", ""))]
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
