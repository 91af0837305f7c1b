"""`SqlHistory` between processes: what survives SIGKILL, several writers, and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.scale import SEED, count

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="it forks and measures memory")]

MEBIBYTE = 1024 * 1024


def run(what: str, database: str, other: str, *numbers: int) -> dict[str, Any]:
    """Run a helper of several processes, and return what it measured."""
    module = ["-W", "error", "-m", "tests.support.kit.history_processes"]
    command = [sys.executable, *module, what, database, other, *map(str, numbers)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=count(250, 1800), check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.mark.stress
def test_nothing_that_was_appended_is_lost_when_the_process_is_killed(database: str, other_database: str) -> None:
    kills = count(10, 200)
    assert run("kill", database, other_database, kills, SEED)["appended"] > kills


@pytest.mark.stress
def test_processes_create_the_tables_and_append_to_them_at_the_same_time(database: str, other_database: str) -> None:
    run("share", database, other_database, count(8, 200), 4)


@pytest.mark.stress
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_long_session_is_replayed_in_constant_memory(database: str) -> None:
    updates = count(5_000, 40_000)
    measured = run("replay", database, "", updates)
    assert measured["sent"] == updates
    assert measured["file"] > updates / 20_000 * 35 * MEBIBYTE
    assert measured["growth"] < 8 * MEBIBYTE, measured
