"""Findings that a maintainer has accepted, each by its fingerprint and with a reason: `schema/accepted.toml`.

    [[accepted]]
    fingerprint = "0123456789ab"
    reason = "no peer in the wild sends it"

An entry belongs to one upgrade, and is in the head of its comparison. One that fits no finding is stale: it is left
over from another upgrade, or what it was about has changed since. Where nothing changed there is no upgrade and so
nothing to be stale about: the entries of the last one are still there, and do no harm until the next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from codegen.diff.sources import ACCEPTED
from codegen.diff.verdict.findings import Finding
from codegen.errors import SourceError
from codegen.nodes import is_array, is_object
from codegen.toml import parse_toml


@dataclass(frozen=True)
class Acceptance:
    """A finding's fingerprint, and why it is accepted."""

    fingerprint: str
    reason: str


def read_accepted(content: bytes) -> list[Acceptance]:
    """The acceptances of an accepted.toml; none if it is empty.

    Raises:
        FileError: it isn't TOML.
        SourceError: it isn't what such a file looks like.
    """
    entries: Any = parse_toml(content, ACCEPTED)
    listed: Any = entries.get("accepted", [])
    if set(entries) - {"accepted"} or not is_array(listed):
        raise SourceError(f"{ACCEPTED} has something else than [[accepted]] tables.")
    return [_entry(each) for each in listed]


def _entry(entry: Any) -> Acceptance:
    texts = is_object(entry) and all(isinstance(each, str) and each.strip() for each in entry.values())
    if not texts or set(entry) != {"fingerprint", "reason"}:
        raise SourceError(f"{ACCEPTED}: an entry has a fingerprint and a reason, both texts. Found {entry!r}.")
    return Acceptance(entry["fingerprint"], entry["reason"])


def apply(accepted: list[Acceptance], findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings with the reasons for which they were accepted."""
    reasons = {each.fingerprint: each.reason for each in accepted}
    return tuple(replace(each, accepted=reasons.get(each.fingerprint, "")) for each in findings)


def stale(accepted: list[Acceptance], findings: list[Finding]) -> tuple[str, ...]:
    """The fingerprints that no finding has."""
    return tuple(sorted({each.fingerprint for each in accepted} - {each.fingerprint for each in findings}))
