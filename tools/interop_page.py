"""Writes docs/interop-remote.md: what works between the SDKs.

`python -m tools.interop_page` tries all pairs first and records what it finds, which takes some minutes.
"""

from __future__ import annotations

import asyncio

from tests.support.interop.contract import CASES, ON_STDIO
from tests.support.interop.explanations import EXPLANATIONS, NOT_PROMISED, Explanation
from tests.support.interop.findings import (
    PAIRS,
    PAIRS_OF_TWO_VERSIONS,
    Pair,
    cases,
    find,
    is_promised,
    record,
    recorded,
)
from tests.support.interop.reuse import close_all
from tests.support.interop.sdks import SDKS, STDIO, TRANSPORTS
from tests.support.interop.versions import OPERATIONS, tried
from tools.paths import ROOT

PAGE = ROOT / "docs" / "interop-remote.md"
_HEAD = """\
<!-- Written by `python -m tools.interop_page`. Do not edit. -->
# Which SDKs work together

Agents of this package, and those of the official SDKs, with clients of all of them: over stdio, and as
[remote agents](guides/remote-agents.md) over WebSocket and HTTP. The processes are real, and run on one machine. Over a
network, each operation is tried on a new connection. The tests repeat what involves this package.

How many of the operations work, of those that were tried:
"""
_TABLES = """\

## Each operation

A number says why an operation fails, in the list below. `-`: it isn't tried, because an SDK doesn't have the second
version of the protocol, or, over stdio, because it would be the same as over a network.
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
            tried = [operation for operation in _rows(transport) if is_tried(pair, operation)]
            counts.append(f"{len(tried) - len(failures.get(pair, {}))} of {len(tried)}")
        rows.append([client, *counts])
    return "\n" + _markdown(rows)


def _table(server: str, transport: str, failures: dict[Pair, dict[str, str]], reasons: list[Explanation]) -> str:
    pairs = [(client, server, transport) for client in SDKS]
    rows = [["operation \\ client", *SDKS], ["---"] * (len(pairs) + 1)]
    rows += [
        [operation, *(_cell(pair, operation, failures, reasons) for pair in pairs)] for operation in _rows(transport)
    ]
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


def _rows(transport: str) -> list[str]:
    of_versions = [each for each in OPERATIONS if any(each in tried(client, transport) for client in SDKS)]
    return [*CASES, *(ON_STDIO if transport == STDIO else ()), *of_versions]


def is_tried(pair: Pair, operation: str) -> bool:
    """Whether an operation is tried with a pair."""
    if operation in OPERATIONS:
        return pair in PAIRS_OF_TWO_VERSIONS and operation in tried(pair[0], pair[2])
    return operation in cases(pair)


def _markdown(rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


async def _try_all() -> dict[Pair, dict[str, str]]:
    found: dict[Pair, dict[str, str]] = {}
    for pair in PAIRS:
        found[pair] = await find(pair, recorded().get(pair, {}))
        print(*pair, *(f"\n    {each}: {how}" for each, how in found[pair].items()), flush=True)
    await close_all()
    return found


if __name__ == "__main__":
    record(asyncio.run(_try_all()))
    PAGE.write_text(page(), "utf-8")
