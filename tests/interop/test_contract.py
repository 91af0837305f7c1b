"""Our clients and agents with the official SDKs' agents and clients over each transport, and docs/interop-remote.md.

What fails by a peer's fault is recorded, and fails here in exactly the recorded way, so that a new release of the peer
that mends it is noticed. `python -m tools.interop_page` records it again and writes the page.
"""

from __future__ import annotations

import pytest

from tests.interop.findings import EXPLANATIONS, OUR_PAIRS, Pair, find, recorded
from tests.support.skipping import skip_without
from tools.interop_page import PAGE, render_page
from tools.third_party import UnavailableError

pytestmark = [pytest.mark.xdist_group("SDKs"), pytest.mark.slow]


@pytest.mark.parametrize("pair", OUR_PAIRS, ids=" - ".join)
async def test_every_case_works_or_fails_as_recorded(pair: Pair) -> None:
    failures = recorded().get(pair, {})
    try:
        result = await find(pair, failures)
    except UnavailableError as reason:
        skip_without("An SDK can't be installed", reason)
    assert result == failures


def test_nothing_fails_by_our_fault() -> None:
    explained = {
        (pair, operation): explanation.fault
        for pair, failures in recorded().items()
        for operation, found in failures.items()
        for explanation in EXPLANATIONS
        if explanation.explains(pair, operation, found)
    }
    assert len(explained) == sum(map(len, recorded().values()))
    assert not [fault for fault in explained.values() if not fault.startswith(("client, ", "agent, "))]
    for (client, server, _), fault in ((pair, fault) for (pair, _), fault in explained.items()):
        blamed = client if fault.startswith("client") else server
        assert blamed.split()[0] == fault.split(", ")[1].split()[0]


def test_each_explanation_explains_something() -> None:
    results = [(pair, *failure) for pair, failures in recorded().items() for failure in failures.items()]
    assert not [
        explanation.fact
        for explanation in EXPLANATIONS
        if not any(explanation.explains(*failure) for failure in results)
    ]


def test_the_page_has_the_recorded_results() -> None:
    assert PAGE.read_text("utf-8") == render_page(), "Run python -m tools.interop_page"
