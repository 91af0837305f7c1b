"""Many updates in 20 sessions between two processes: none lost or reordered, with constant memory."""

from __future__ import annotations

import json
import sys

import pytest

from tests.support.forked import ran
from tests.support.scale import count, sample
from tests.support.stress.streaming import Load

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="measures memory as POSIX does")

SESSIONS, UPDATES = 20, count(100, 5000)
# The allowed growth of a process. In `make stress`, keeping all updates would take about 200 MB.
MEBIBYTE = 1024 * 1024
MAX_GROWTH = 24 * MEBIBYTE
# The response to a handler that calls the agent arrives after all updates that are already on their way, so these have
# to be read. The bound is `flood_factor` times the high-water mark of bytes: 256 MiB.
MAX_REENTRANT_GROWTH = 128 * MEBIBYTE
DEADLINE = 100

LOADS = {
    "slow": Load(SESSIONS, UPDATES, slow_every=100, reentrant_every=0, high_water_messages=1000),
    "slow and reentrant": Load(SESSIONS, UPDATES, slow_every=99, reentrant_every=50, high_water_messages=1000),
}


@pytest.mark.stress
@pytest.mark.usefixtures("fork_server")
@pytest.mark.parametrize("kind", sample([*LOADS], 1))
def test_updates_in_20_sessions_are_handled_in_order_and_with_constant_memory(kind: str) -> None:
    arguments = LOADS[kind].arguments()
    exit_code, out, err = ran("-m", "tests.support.stress.streaming", "client", *arguments, timeout=DEADLINE)
    assert exit_code == 0, err.decode()[-3000:]
    measured = json.loads(out)
    assert measured["handled"] == SESSIONS * UPDATES
    assert measured["tasks"] == 0
    assert measured["client"] < (MAX_REENTRANT_GROWTH if LOADS[kind].reentrant_every else MAX_GROWTH), measured
    assert measured["agent"] < MAX_GROWTH, measured
