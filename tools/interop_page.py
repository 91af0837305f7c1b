"""Writes docs/interop-remote.md: what works between the SDKs.

`python -m tools.interop_page` tries all pairs first and records what it finds, which takes some minutes.
"""

from __future__ import annotations

import asyncio

from tests.interop.contract import CASES, ON_STDIO
from tests.interop.findings import (
    EXPLANATIONS,
    NOT_PROMISED,
    PAIRS,
    PAIRS_OF_TWO_VERSIONS,
    Explanation,
    Pair,
    cases,
    find,
    record,
    recorded,
)
from tests.interop.reuse import close_all
from tests.interop.sdks import SDKS, STDIO, TRANSPORTS
from tests.interop.versions import OPERATIONS, tried
from tools.paths import ROOT

PAGE = ROOT / "docs" / "interop-remote.md"
_HEAD = """\
<!-- Written by `python -m tools.interop_page`. Do not edit. -->
# Which SDKs work together

Agents and clients of this package and of the official SDKs with each other: over stdio, and as
[remote agents](guides/remote-agents.md) over WebSocket and HTTP. Each is a process of its own, on one machine. Over a
network, each operation has a new connection. The tests repeat the pairs with this package.

How many of the operations work:
"""


def render_page() -> str:
    """Return the page with the recorded results."""
    failures = recorded()
    _require_explanations(failures)
    operations = "; ".join([*CASES, *ON_STDIO])
    versions = "which version a client and an agent of one or both versions speak"
    tried = f"\nThe operations: {operations}; {versions}.\n"
    parts = [_HEAD, *(_write_counts(transport, failures) for transport in TRANSPORTS), tried]
    parts += ["\n## What fails, and why\n\n", *map(_write_reason, EXPLANATIONS)]
    parts += ["\n## What these SDKs don't promise\n\n", *map(_write_reason, NOT_PROMISED)]
    return "".join(parts)


def _require_explanations(failures: dict[Pair, dict[str, str]]) -> None:
    for pair, operations in failures.items():
        for operation, failure in operations.items():
            if not any(explanation.explains(pair, operation, failure) for explanation in EXPLANATIONS):
                raise LookupError(f"Say in explanations.toml why this fails with {pair}: {operation}: {failure}")


def _write_counts(transport: str, failures: dict[Pair, dict[str, str]]) -> str:
    rows = [[f"{transport}: client \\ agent", *SDKS], ["---"] * (len(SDKS) + 1)]
    for client in SDKS:
        counts: list[str] = []
        for server in SDKS:
            pair = client, server, transport
            tried = [operation for operation in _list_operations(transport) if is_tried(pair, operation)]
            counts.append(f"{len(tried) - len(failures.get(pair, {}))} of {len(tried)}")
        rows.append([client, *counts])
    return "\n" + _write_rows(rows)


def _write_reason(reason: Explanation) -> str:
    """Return an item that says whose fault a failure is, why, and which operations fail."""
    role, _, sdk = reason.fault.partition(", ")
    kind, others = ("agents", reason.servers) if role == "client" else ("clients", reason.clients)
    where = "" if set(others) == set(SDKS) else f" with {', '.join(others)} {kind}"
    if set(reason.transports) != set(TRANSPORTS):
        where += f", over {' and '.join(reason.transports)}"
    return f"- **{sdk} {role}s**{where}. {reason.fact} Affected: {'; '.join(reason.operations)}.\n"


def _list_operations(transport: str) -> list[str]:
    of_versions = [name for name in OPERATIONS if any(name in tried(client, transport) for client in SDKS)]
    return [*CASES, *(ON_STDIO if transport == STDIO else ()), *of_versions]


def is_tried(pair: Pair, operation: str) -> bool:
    """Whether an operation is tried with a pair."""
    if operation in OPERATIONS:
        return pair in PAIRS_OF_TWO_VERSIONS and operation in tried(pair[0], pair[2])
    return operation in cases(pair)


def _write_rows(rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


async def _try_all() -> dict[Pair, dict[str, str]]:
    failures: dict[Pair, dict[str, str]] = {}
    for pair in PAIRS:
        failures[pair] = await find(pair, recorded().get(pair, {}))
        print(*pair, *(f"\n    {operation}: {failure}" for operation, failure in failures[pair].items()), flush=True)
    await close_all()
    return failures


if __name__ == "__main__":
    record(asyncio.run(_try_all()))
    PAGE.write_text(render_page(), "utf-8")
