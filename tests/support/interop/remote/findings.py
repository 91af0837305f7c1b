"""What works between the SDKs over remote transports. `findings.json` has what `page.py` found."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.interop.remote.operations import OPERATIONS, ORDER_OF_LOAD, ORDER_OF_PROMPT, outcome
from tests.support.interop.remote.sdks import (
    NEXT_PYTHON,
    OURS,
    PYTHON,
    SDKS,
    SDKS_OF_TWO_VERSIONS,
    TRANSPORTS,
    TYPESCRIPT,
    connected,
    url,
)
from tests.support.interop.remote.versions import outcomes as outcomes_of_versions

RECORDED = Path(__file__).with_name("findings.json")
Pair = tuple[str, str, str]  # client, server, transport
PAIRS: list[Pair] = [(client, server, transport) for transport in TRANSPORTS for server in SDKS for client in SDKS]
OUR_PAIRS = [pair for pair in PAIRS if OURS in pair]
PAIRS_OF_TWO_VERSIONS = [pair for pair in PAIRS if {*pair[:2]} <= {*SDKS_OF_TWO_VERSIONS}]


def is_promised(pair: Pair, operation: str) -> bool:
    """Whether an operation has the same outcome each time. Some orders haven't over HTTP.

    The server of the TypeScript SDK sends the updates of a load and its answer on two streams. The clients of the
    Python SDK answer a call while the updates before it still wait for their handlers.
    """
    client, server, transport = pair
    if transport == "HTTP" and client in (PYTHON, NEXT_PYTHON):
        return operation not in (ORDER_OF_PROMPT, ORDER_OF_LOAD)
    return not (transport == "HTTP" and server == TYPESCRIPT and operation == ORDER_OF_LOAD)


def operations(pair: Pair) -> list[str]:
    """Return the operations that are tried with a pair, apart from those of the versions."""
    return [operation for operation in OPERATIONS if is_promised(pair, operation)]


async def find(pair: Pair, operation: str) -> str:
    """Return `works`, or how an operation fails."""
    client, server, transport = pair
    async with connected(client, await url(server, transport)) as connection:
        return await outcome(connection, operation)


async def find_versions(pair: Pair) -> dict[str, str]:
    """Return `works`, or what fails, for each version that is offered and all that are served."""
    return await outcomes_of_versions(*pair)


def recorded() -> dict[Pair, dict[str, str]]:
    """Return what fails, by pair and operation. Everything else works."""
    records: list[dict[str, str]] = json.loads(RECORDED.read_text("utf-8"))
    failures: dict[Pair, dict[str, str]] = {}
    for each in records:
        pair = each["client"], each["server"], each["transport"]
        failures.setdefault(pair, {})[each["operation"]] = each["found"]
    return failures


def record(found: dict[Pair, dict[str, str]]) -> None:
    """Write what fails to `findings.json`."""
    records = [
        {"client": pair[0], "server": pair[1], "transport": pair[2], "operation": operation, "found": result}
        for pair, results in found.items()
        for operation, result in results.items()
        if result != "works"
    ]
    RECORDED.write_text(json.dumps(records, indent=2, ensure_ascii=False) + "\n", "utf-8")
