"""Findings that a maintainer has accepted, each by its fingerprint and with a reason: `schema/accepted.toml`.

    [[accepted]]
    fingerprint = "0123456789ab"
    reason = "no peer in the wild sends it"

An entry belongs to one upgrade. One that fits no finding of an upgrade is an error: it is left over from another, or
what it was about has changed since.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codegen.diff.findings import Finding
from codegen.diff.sources import SourceError
from codegen.nodes import is_array, is_object

FILE = "accepted.toml"


@dataclass(frozen=True)
class Acceptance:
    """A finding's fingerprint, and why it is accepted."""

    fingerprint: str
    reason: str


def read_accepted(path: Path) -> list[Acceptance]:
    """The acceptances of a file; none if there is no such file.

    Raises:
        SourceError: it isn't what such a file looks like.
    """
    if not path.is_file():
        return []
    try:
        entries: Any = tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise SourceError(f"{path.name} is not TOML: {error}.") from error
    listed: Any = entries.get("accepted", [])
    if set(entries) - {"accepted"} or not is_array(listed):
        raise SourceError(f"{path.name} has something else than [[accepted]] tables.")
    return [_entry(each, path.name) for each in listed]


def _entry(entry: Any, file: str) -> Acceptance:
    texts = is_object(entry) and all(isinstance(each, str) and each.strip() for each in entry.values())
    if not texts or set(entry) != {"fingerprint", "reason"}:
        raise SourceError(f"{file}: an entry has a fingerprint and a reason, both texts. Found {entry!r}.")
    return Acceptance(entry["fingerprint"], entry["reason"])


def apply(accepted: list[Acceptance], findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings with the reasons for which they were accepted."""
    reasons = {each.fingerprint: each.reason for each in accepted}
    stale = reasons.keys() - {each.fingerprint for each in findings}
    if stale:
        raise SourceError(f"{FILE} accepts {', '.join(sorted(stale))}, and there is no such finding. Remove it.")
    return tuple(replace(each, accepted=reasons.get(each.fingerprint, "")) for each in findings)
