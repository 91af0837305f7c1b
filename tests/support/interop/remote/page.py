"""Writes docs/interop-remote.md: what works between the SDKs over remote transports.

`python -m tests.support.interop.remote.page` tries all pairs first and records what it finds, which takes some minutes.
"""

from __future__ import annotations

import asyncio

from tests.support.interop.remote.explanations import EXPLANATIONS, NOT_PROMISED, Explanation
from tests.support.interop.remote.findings import (
    PAIRS,
    PAIRS_OF_TWO_VERSIONS,
    Pair,
    find,
    find_versions,
    is_promised,
    operations,
    record,
    recorded,
)
from tests.support.interop.remote.operations import OPERATIONS
from tests.support.interop.remote.sdks import OURS, SDKS, TRANSPORTS
from tests.support.interop.remote.versions import NEWEST, OFFERED
from tests.support.interop.reuse import close_all
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "interop-remote.md"
_HEAD = """\
<!-- Written by `python -m tests.support.interop.remote.page`. Do not edit. -->
# Which SDKs work together over a network

[Remote agents](guides/remote-agents.md) of this package, and those of the official SDKs, with clients of all of them,
over WebSocket and over HTTP. Each operation is tried on a new connection, with real processes on one machine.
The tests repeat it for all pairs in which this package is one side.

How many of the operations work, of those that were tried:
"""
_TABLES = """\

## Each operation

A number says why an operation fails, in the list below. `-`: it isn't tried, because an SDK doesn't have the second
version of the protocol.
"""
_REASONS = """\

## Why operations fail

"""


def page() -> str:
    """Return the page for what is recorded."""
    failures = recorded()
    reasons = [*EXPLANATIONS, *NOT_PROMISED]
    parts = [_HEAD, *(_counts(transport, failures) for transport in TRANSPORTS), _TABLES]
    parts += [_table(server, transport, failures, reasons) for server in SDKS for transport in TRANSPORTS]
    parts += [_REASONS, *(_reason(number, each) for number, each in enumerate(reasons, 1))]
    return "".join(parts)


def _counts(transport: str, failures: dict[Pair, dict[str, str]]) -> str:
    rows = [[f"{transport}: client \\ agent", *SDKS], ["---"] * (len(SDKS) + 1)]
    for client in SDKS:
        counts: list[str] = []
        for server in SDKS:
            pair = client, server, transport
            tried = [operation for operation in _rows() if is_tried(pair, operation)]
            counts.append(f"{len(tried) - len(failures.get(pair, {}))} of {len(tried)}")
        rows.append([client, *counts])
    return "\n" + _markdown(rows)


def _table(server: str, transport: str, failures: dict[Pair, dict[str, str]], reasons: list[Explanation]) -> str:
    pairs = [(client, server, transport) for client in SDKS]
    rows = [["operation \\ client", *SDKS], ["---"] * (len(pairs) + 1)]
    rows += [[operation, *(_cell(pair, operation, failures, reasons) for pair in pairs)] for operation in _rows()]
    return f"\n### Agents of {server}, {transport}\n\n{_markdown(rows)}"


def _cell(pair: Pair, operation: str, failures: dict[Pair, dict[str, str]], reasons: list[Explanation]) -> str:
    if not is_promised(pair, operation):
        found = "not promised"
    elif not is_tried(pair, operation):
        return "-"
    else:
        found = failures.get(pair, {}).get(operation, "works")
    if found == "works":
        return "yes"
    for number, each in enumerate(reasons, 1):
        if each.explains(pair, operation, found):
            return str(number)
    raise LookupError(f"Say in explanations.py why this fails with {pair}: {operation}: {found}")


def _reason(number: int, reason: Explanation) -> str:
    return f"{number}. Fault of the {reason.fault}. {reason.fact} What happens: {reason.found[0]}.\n"


def _rows() -> list[str]:
    return [*OPERATIONS, *OFFERED, *NEWEST]


def is_tried(pair: Pair, operation: str) -> bool:
    """Whether an operation is tried with a pair."""
    if operation in OPERATIONS:
        return is_promised(pair, operation)
    return pair in PAIRS_OF_TWO_VERSIONS and (operation in OFFERED or pair[0] == OURS)


def _markdown(rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


async def _try_all() -> dict[Pair, dict[str, str]]:
    found: dict[Pair, dict[str, str]] = {}
    for pair in PAIRS:
        found[pair] = {operation: await find(pair, operation) for operation in operations(pair)}
        if pair in PAIRS_OF_TWO_VERSIONS:
            found[pair] |= await find_versions(pair)
        print(*pair, *(f"\n    {each}: {how}" for each, how in found[pair].items() if how != "works"), flush=True)
    await close_all()
    return found


if __name__ == "__main__":
    record(asyncio.run(_try_all()))
    PAGE.write_text(page(), "utf-8")
