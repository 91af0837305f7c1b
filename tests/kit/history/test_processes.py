"""`SqlHistory` between processes: what survives SIGKILL, several writers, and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from subprocess import PIPE
from typing import Any

import pytest

from tests.support.kit.history_processes import LONG_TEXT
from tests.support.paths import ROOT
from tests.support.scale import SEED, count

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="it forks and measures memory"),
    # The group shares the server of databases.
    pytest.mark.xdist_group("packages"),
]

MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A process that has imported everything, and forks for each test."""
    command = [sys.executable, "-W", "error", "-m", "tests.support.kit.history_processes"]
    with subprocess.Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True, bufsize=1) as server:
        yield server


def run(server: Any, *arguments: object) -> Any:
    """Run a helper of several processes. Return what it measured, or None if it fails; its traceback is on stderr."""
    server.stdin.write(f"{json.dumps(arguments)}\n")
    return json.loads(server.stdout.readline())


@pytest.mark.stress
def test_nothing_that_was_appended_is_lost_when_the_process_is_killed(
    server: Any, database: str, other_database: str
) -> None:
    kills = count(5, 200)
    assert run(server, "kill", database, other_database, kills, SEED)["appended"] >= kills


@pytest.mark.stress
def test_processes_create_the_tables_and_append_to_them_at_the_same_time(
    server: Any, database: str, other_database: str
) -> None:
    assert run(server, "share", database, other_database, count(8, 200), 4) == {}


@pytest.mark.stress
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_long_session_is_replayed_in_constant_memory(server: Any, database: str) -> None:
    updates = count(2_000, 40_000)
    measured = run(server, "replay", database, "", updates)
    assert measured["sent"] == updates
    assert measured["file"] > updates * 0.9 * LONG_TEXT > 16 * MEBIBYTE
    assert measured["growth"] < 8 * MEBIBYTE, measured
