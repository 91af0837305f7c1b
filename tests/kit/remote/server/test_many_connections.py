"""Many WebSockets at once: each receives all updates of its prompt, in the number that it asked for."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks.implementations import program
from tests.support.programs import run_command
from tests.support.scale import STRESS

pytestmark = [
    pytest.mark.test_all,
    pytest.mark.slow,
    pytest.mark.stress,
    pytest.mark.skipif(sys.platform == "win32", reason="the program raises the limit of open files"),
]


@pytest.mark.parametrize("connections", [1000, 3000] if STRESS else [20])
def test_nothing_is_lost(connections: int) -> None:
    task = json.dumps({"connections": connections, "warm": 10, "count": 100})
    measured = json.loads(run_command(*program("raw", "websockets.py"), task, *program("ours", "agent.py")))
    sys.stdout.write(f"{connections} connections: {measured['idle'] / 1024:.1f} KiB each\n")
    assert measured["idle"] < 100 * 1024
