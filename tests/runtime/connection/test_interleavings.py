"""Rules 8 to 22 at once: whatever two sides do, in whatever order, each request has one answer and nothing is lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import pytest

from tests.support.runtime.interleaved_agent import AgentInterleaving
from tests.support.runtime.interleaved_client import ClientInterleaving
from tests.support.runtime.interleaving import Interleaving
from tests.support.runtime.random_peer import SkippingLoop
from tests.support.scale import count

SIDES: dict[str, type[Interleaving]] = {"client": ClientInterleaving, "agent": AgentInterleaving}
PART = 50
# Longer than all deadlines of a connection together. It costs no time.
DEADLINE = 600


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    """Thousands of handlers that fail, each with a traceback, take longer to log than to run."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.stress
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("start", range(0, count(200, 10_000), PART))
def test_rules_8_to_22_hold_whatever_happens_in_whatever_order(side: str, start: int) -> None:
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
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"Tasks that nobody ended: {left}"
