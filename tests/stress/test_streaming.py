"""Ten thousands of updates over 20 sessions between two processes: none lost or reordered, no deadlock, memory flat."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.paths import ROOT
from tests.support.scale import count
from tests.support.stress.streaming import Load

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="measures memory as POSIX does")

SESSIONS, UPDATES = 20, count(1500, 5000)
# What two processes may grow by. All of it kept would be some 60 MB, and 200 MB under `make stress`.
MEBIBYTE = 1024 * 1024
FLAT = 24 * MEBIBYTE
# A handler that calls the agent gets its answer behind everything that is on its way, which has to be read for it. The
# bound is `flood_factor` times the high-water mark of bytes: 256 MiB.
NOT_QUITE_FLAT = 128 * MEBIBYTE
DEADLINE = 100

LOADS = {
    "slow": Load(SESSIONS, UPDATES, slow_every=100, reentrant_every=0, high_water_messages=1000),
    "slow and reentrant": Load(SESSIONS, UPDATES, slow_every=99, reentrant_every=50, high_water_messages=1000),
}


@pytest.mark.stress
@pytest.mark.parametrize("kind", LOADS)
def test_updates_over_20_sessions_arrive_in_order_and_in_flat_memory(kind: str) -> None:
    command = [sys.executable, "-m", "tests.support.stress.streaming", "client", *LOADS[kind].arguments()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=DEADLINE, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    measured = json.loads(done.stdout)
    assert measured["handled"] == SESSIONS * UPDATES
    assert measured["tasks"] == 0
    assert measured["client"] < (NOT_QUITE_FLAT if LOADS[kind].reentrant_every else FLAT), measured
    assert measured["agent"] < FLAT, measured
