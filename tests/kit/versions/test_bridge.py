"""The command `acp-bindings bridge`."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.support.kit import agent_of_both_versions
from tests.support.kit.behind_v2 import INITIALIZE
from tests.support.kit.gateway import bridge, end_by, gateway, until_idle
from tests.support.marked_processes import alive, wait_until_left
from tests.support.programs import Program

AGENT = [sys.executable, agent_of_both_versions.__file__]

pytestmark = pytest.mark.slow


def begin(started: Program, text: str) -> str:
    """Send a prompt with a text. Return the id of the session."""
    assert started.call("initialize", INITIALIZE)["result"]["info"]["name"] == "ours"
    session: str = started.call("session/new", {"cwd": "/tmp"})["result"]["sessionId"]
    prompt = [{"type": "text", "text": text}]
    assert started.call("session/prompt", {"sessionId": session, "prompt": prompt})["result"]
    return session


def test_a_turn_behind_the_bridge_ends_idle() -> None:
    with bridge(*AGENT) as (started, _):
        begin(started, "hello")
        assert until_idle(started)["stopReason"] == "end_turn"


@pytest.mark.parametrize("end", ["EOF", "SIGTERM", "SIGINT", "SIGKILL"])
def test_nothing_is_left_however_it_ends(end: str) -> None:
    with bridge(*AGENT) as (started, marker):
        begin(started, "wait")
        assert len(alive(marker)) >= 2
        end_by(end, started)
        assert started.wait(20) == (-signal.SIGKILL if end == "SIGKILL" else 0)
        assert wait_until_left(marker) == set()


DEAF = """
import time
input()
print('{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}', flush=True)
time.sleep(60)
"""


def test_an_agent_that_does_not_read_ends_if_the_bridge_is_killed() -> None:
    with bridge(sys.executable, "-c", DEAF) as (started, marker):
        assert started.call("initialize", INITIALIZE)["result"]
        started.kill()
        assert wait_until_left(marker) == set()


def test_it_ends_with_the_exit_code_of_an_agent_that_ends_first() -> None:
    with bridge(sys.executable, "-c", "input(); raise SystemExit(3)") as (started, _):
        error = started.call("initialize", INITIALIZE)["error"]
        assert "Exit code: 3." in error["message"]
        assert started.wait(20) == 3


def test_an_agent_that_can_not_be_started_is_127() -> None:
    with bridge("/no/such/agent", stderr=subprocess.PIPE) as (started, _):
        assert started.call("initialize", INITIALIZE)["error"]["code"] == -32603
        assert started.wait(20) == 127
        problem = (
            "acp-bindings bridge: Can't start the agent '/no/such/agent': No such file or directory. Check the path."
        )
        assert problem in started.stderr.read().decode().splitlines()


def test_a_command_is_needed() -> None:
    with gateway("-m", "acp_kit", "bridge") as (started, _):
        assert started.wait(20) == 2
