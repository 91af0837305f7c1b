"""Many updates in 20 sessions between two processes: none lost or reordered, with constant memory."""

from __future__ import annotations

import json
import sys

import pytest

from tests.support.programs import run_program
from tests.support.scale import sample

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="measures memory as POSIX does")

# The allowed growth of a process. In `make stress`, keeping all updates would take about 200 MB.
MEBIBYTE = 1024 * 1024
MAX_GROWTH = 24 * MEBIBYTE
# The response to a handler that calls the agent arrives after all updates that are already on their way, so these have
# to be read. The bound is `flood_factor` times the high-water mark of bytes: 256 MiB.
MAX_REENTRANT_GROWTH = 128 * MEBIBYTE
# Which updates are handled slowly, and in which ones the handler calls the agent.
LOADS = {"slow": ("100", "0", MAX_GROWTH), "slow and reentrant": ("99", "50", MAX_REENTRANT_GROWTH)}


@pytest.mark.stress
@pytest.mark.parametrize("kind", sample([*LOADS], 1))
def test_updates_in_20_sessions_are_handled_in_order_and_with_constant_memory(kind: str) -> None:
    slow_every, reentrant_every, most = LOADS[kind]
    exit_code, out, err = run_program("-m", "tests.stress.streaming", slow_every, reentrant_every)
    assert exit_code == 0, err.decode()[-3000:]
    measured = json.loads(out)
    assert measured["tasks"] == 0
    assert measured["client"] < most, measured
    assert measured["agent"] < MAX_GROWTH, measured
