"""Rules 8 to 22 together: in random interleavings each request has one response, and no message is lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import pytest

from tests.runtime.connection.interleaved_agent import AgentInterleaving
from tests.runtime.connection.interleaved_client import ClientInterleaving
from tests.runtime.connection.interleaving import Interleaving
from tests.runtime.connection.random_peer import SkippingLoop
from tests.support.scale import count

SIDES: dict[str, type[Interleaving]] = {"client": ClientInterleaving, "agent": AgentInterleaving}
PART = 50
# Longer than all deadlines of a connection together. The event loop skips it.
DEADLINE = 600


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    """Disable logging: the tracebacks of thousands of failing handlers take longer than the test."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.slow
@pytest.mark.stress
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("start", range(0, count(50, 10_000), PART))
def test_rules_8_to_22_hold_for_random_interleavings(side: str, start: int) -> None:
    for seed in range(start, start + PART):
        try:
            with asyncio.Runner(loop_factory=SkippingLoop) as runner:
                runner.run(_run(SIDES[side], seed))
        except BaseException as error:
            error.add_note(f"{side}, seed {seed}")
            raise


async def _run(interleaving: type[Interleaving], seed: int) -> None:
    async with asyncio.timeout(DEADLINE):
        await interleaving(seed).run()
    running = asyncio.all_tasks() - {asyncio.current_task()}
    assert not running, f"Tasks that still run: {running}"
