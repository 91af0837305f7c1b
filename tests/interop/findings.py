"""What fails between the SDKs: `findings.json` has the last results, and `explanations.toml` the reasons."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.interop.contract import CASES, ON_STDIO, outcome
from tests.interop.sdks import OURS, SDKS, SDKS_OF_TWO_VERSIONS, STDIO, TRANSPORTS, agent, in_session
from tests.interop.versions import outcomes as outcomes_of_versions

RECORDED = Path(__file__).with_name("findings.json")
Pair = tuple[str, str, str]  # client, server, transport
PAIRS: list[Pair] = [(client, server, transport) for transport in TRANSPORTS for server in SDKS for client in SDKS]
OUR_PAIRS = [pair for pair in PAIRS if OURS in pair]
PAIRS_OF_TWO_VERSIONS = [pair for pair in PAIRS if {*pair[:2]} <= {*SDKS_OF_TWO_VERSIONS}]
_SECONDS = 60
_SECONDS_IF_NO_ANSWER_IS_EXPECTED = 5


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why operations fail. The comment in `explanations.toml` says what the attributes mean."""

    clients: Sequence[str] = SDKS
    servers: Sequence[str] = SDKS
    transports: Sequence[str] = tuple(TRANSPORTS)
    operations: Sequence[str]
    found: Sequence[str]
    fault: str
    fact: str

    def explains(self, pair: Pair, operation: str, found: str) -> bool:
        """Return whether this is why an operation fails with a pair."""
        client, server, transport = pair
        return (
            client in self.clients
            and server in self.servers
            and transport in self.transports
            and operation in self.operations
            and found in self.found
        )


_NOT_PROMISED = "not promised"
_ALL = [
    Explanation(**table)
    for table in tomllib.loads(Path(__file__).with_name("explanations.toml").read_text("utf-8"))["explanation"]
]
EXPLANATIONS = [explanation for explanation in _ALL if _NOT_PROMISED not in explanation.found]
NOT_PROMISED = [explanation for explanation in _ALL if _NOT_PROMISED in explanation.found]


def is_promised(pair: Pair, case: str) -> bool:
    """Return whether a case has the same outcome each time. Over HTTP, some orders of messages don't."""
    return not any(explanation.explains(pair, case, _NOT_PROMISED) for explanation in NOT_PROMISED)


def cases(pair: Pair) -> list[str]:
    """Return the cases to try with a pair, without the operations of two versions."""
    return [case for case in [*CASES, *(ON_STDIO if STDIO in pair else ())] if is_promised(pair, case)]


async def find(pair: Pair, expected: Mapping[str, str]) -> dict[str, str]:
    """Return the cases that fail with a pair, and how.

    Cases that are expected to get no answer have a shorter deadline. The connection is used again if a case works, or
    is answered as expected.
    """
    client, server, transport = pair
    target = await agent(server, transport)
    outcomes: dict[str, str] = {}
    for case in sorted(cases(pair), key=expected.__contains__):  # those that work first, on one connection
        expected_outcome = expected.get(case, "works")
        seconds = _SECONDS_IF_NO_ANSWER_IS_EXPECTED if expected_outcome == "no answer" else _SECONDS
        with suppress(_NotReusedError):
            async with in_session(client, target) as connection:
                outcomes[case] = await outcome(connection, case, seconds)
                if outcomes[case] == "no answer" or outcomes[case] != expected_outcome:
                    raise _NotReusedError
    if pair in PAIRS_OF_TWO_VERSIONS:
        outcomes |= await outcomes_of_versions(*pair)
    return {case: how for case, how in outcomes.items() if how != "works"}


class _NotReusedError(Exception):
    """Closes the connection of a case that was not answered, or not as expected."""


def recorded() -> dict[Pair, dict[str, str]]:
    """Return what fails, by pair and case. Everything else works."""
    records: list[dict[str, str]] = json.loads(RECORDED.read_text("utf-8"))
    failures: dict[Pair, dict[str, str]] = {}
    for row in records:
        pair = row["client"], row["server"], row["transport"]
        failures.setdefault(pair, {})[row["operation"]] = row["found"]
    return failures


def record(found: dict[Pair, dict[str, str]]) -> None:
    """Write what fails to `findings.json`."""
    records = [
        {"client": pair[0], "server": pair[1], "transport": pair[2], "operation": operation, "found": result}
        for pair, results in found.items()
        for operation, result in results.items()
    ]
    RECORDED.write_text(json.dumps(records, indent=2, ensure_ascii=False) + "\n", "utf-8")
