"""Our clients and agents with those of the official SDKs over WebSocket and HTTP, and docs/interop-remote.md.

What fails by a peer's fault is recorded, and fails here in exactly the recorded way, so that a new release of the peer
that mends it is noticed. `python -m tests.support.interop.remote.page` records it again and writes the page.
"""

from __future__ import annotations

import pytest

from tests.support.interop.remote.explanations import EXPLANATIONS
from tests.support.interop.remote.findings import (
    OUR_PAIRS,
    PAIRS_OF_TWO_VERSIONS,
    Pair,
    find,
    find_versions,
    operations,
    recorded,
)
from tests.support.interop.remote.page import PAGE, page
from tests.support.third_party import UnavailableError, skip_without

pytestmark = [pytest.mark.xdist_group("remote"), pytest.mark.slow]

TRIED = [(pair, operation) for pair in OUR_PAIRS for operation in operations(pair)]
IDS = [f"{' - '.join(pair)} - {operation}" for pair, operation in TRIED]
OF_TWO_VERSIONS = [pair for pair in PAIRS_OF_TWO_VERSIONS if pair in OUR_PAIRS]


@pytest.mark.parametrize(("pair", "operation"), TRIED, ids=IDS)
async def test_an_operation_works_or_fails_as_recorded(pair: Pair, operation: str) -> None:
    try:
        found = await find(pair, operation)
    except UnavailableError as reason:
        skip_without("An SDK can't be installed", reason)
    assert found == recorded().get(pair, {}).get(operation, "works")


@pytest.mark.parametrize("pair", OF_TWO_VERSIONS, ids=" - ".join)
async def test_clients_of_two_versions_reach_agents_of_two_versions(pair: Pair) -> None:
    try:
        found = await find_versions(pair)
    except UnavailableError as reason:
        skip_without("An SDK can't be installed", reason)
    failures = recorded().get(pair, {})
    assert found == {operation: failures.get(operation, "works") for operation in found}


def test_nothing_fails_by_our_fault() -> None:
    explained = {
        (pair, operation): each.fault
        for pair, failures in recorded().items()
        for operation, found in failures.items()
        for each in EXPLANATIONS
        if each.explains(pair, operation, found)
    }
    assert len(explained) == sum(map(len, recorded().values()))
    assert not [fault for fault in explained.values() if not fault.startswith(("client, ", "agent, "))]
    for (client, server, _), fault in ((pair, fault) for (pair, _), fault in explained.items()):
        blamed = client if fault.startswith("client") else server
        assert blamed.split()[0] == fault.split(", ")[1].split()[0]


def test_each_explanation_explains_something() -> None:
    found = [(pair, *failure) for pair, failures in recorded().items() for failure in failures.items()]
    assert not [each.fact for each in EXPLANATIONS if not any(each.explains(*failure) for failure in found)]


def test_the_page_says_what_is_recorded() -> None:
    assert PAGE.read_text("utf-8") == page(), "Run python -m tests.support.interop.remote.page"
