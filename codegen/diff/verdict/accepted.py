"""Read `schema/accepted.toml`: the findings that a maintainer has accepted, each with a reason.

    [[accepted]]
    fingerprint = "0123456789ab"
    reason = "no known peer sends it"

Entries apply to one upgrade and are read from the head of the comparison. An entry that matches no finding is stale: it
belongs to another upgrade, or its finding has changed since. If nothing changed between base and head, no entry counts
as stale; those of the last upgrade can stay until the next one.
"""

from __future__ import annotations

from typing import Any

from codegen.diff.sources import ACCEPTED
from codegen.errors import SourceError
from codegen.nodes import is_array, is_object
from codegen.toml import parse_toml


def read_accepted(content: bytes) -> list[tuple[str, str]]:
    """Parse the content of an accepted.toml, which may be empty, and return the fingerprints with their reasons.

    Raises:
        FileError: the content isn't TOML.
        SourceError: an entry or key is wrong.
    """
    entries: Any = parse_toml(content, ACCEPTED)
    listed: Any = entries.get("accepted", [])
    if set(entries) - {"accepted"} or not is_array(listed):
        raise SourceError(f"{ACCEPTED} may only have [[accepted]] tables.")
    for entry in listed:
        texts = is_object(entry) and all(isinstance(each, str) and each.strip() for each in entry.values())
        if not texts or set(entry) != {"fingerprint", "reason"}:
            raise SourceError(f"{ACCEPTED}: an entry needs a fingerprint and a reason, both as text. Found {entry!r}.")
    return [(entry["fingerprint"], entry["reason"]) for entry in listed]
