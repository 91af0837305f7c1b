"""`as_v2` with an agent of version 1 that is a subprocess."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from acp_bindings import v2_draft as v2
from acp_kit.versions import as_v2
from tests.support.kit import agent_of_both_versions
from tests.support.kit.behind_v2 import CANCEL, INITIALIZE, PROMPT
from tests.support.kit.gateway import end_by, gateway, until_idle
from tests.support.marked_processes import alive, wait_until_left
from tests.support.programs import Program

PROGRAM = """
import asyncio, sys
from acp_bindings import v1, v2_draft as v2
from acp_kit.versions import as_v2
asyncio.run(v2.serve_stdio(as_v2(open=lambda client: v1.spawn_agent(client, sys.executable, *sys.argv[1:]))))
"""
WAITING = {"type": "text", "text": "wait"}


@contextmanager
def waiting_turn() -> Generator[tuple[Program, str, str]]:
    """Begin a turn that waits. Yield the gateway, the marker of its processes and the id of the session."""
    with gateway("-c", PROGRAM, agent_of_both_versions.__file__) as (started, marker):
        assert started.call("initialize", INITIALIZE)["result"]
        session = started.call("session/new", {"cwd": "/tmp"})["result"]["sessionId"]
        assert started.call("session/prompt", {"sessionId": session, "prompt": [WAITING]})["result"]
        assert len(alive(marker)) >= 2
        yield started, marker, session


@pytest.mark.slow
@pytest.mark.parametrize("end", ["EOF", "SIGTERM", "SIGINT", "SIGKILL"])
def test_nothing_is_left_however_it_ends(end: str) -> None:
    with waiting_turn() as (started, marker, _):
        end_by(end, started)
        assert started.wait(20) == (-signal.SIGKILL if end == "SIGKILL" else 0)
        assert wait_until_left(marker) == set()


@pytest.mark.slow
def test_an_agent_that_dies_ends_the_turn_in_an_error_with_the_reason() -> None:
    with waiting_turn() as (started, marker, session):
        (agent,) = alive(marker) - {started.pid}
        subprocess.run(["kill", "-9", str(agent)], check=True)
        idle = until_idle(started)
        assert idle["stopReason"] == "error"
        assert "Exit code: -9." in idle["error"]["message"]
        started.send(CANCEL)
        assert started.call("session/prompt", {"sessionId": session, "prompt": PROMPT})["error"]["code"] == -32603


@pytest.mark.slow
def test_a_turn_is_cancelled() -> None:
    with waiting_turn() as (started, _, session):
        started.send({"method": "session/cancel", "params": {"sessionId": session}})
        assert until_idle(started)["stopReason"] == "cancelled"


async def test_a_command_that_can_not_start_is_an_error_of_initialize() -> None:
    from acp_bindings import v1

    class Client(v2.Client):
        def __init__(self, agent: v2.RemoteAgent) -> None:
            pass

        async def session_update(self, notification: v2.UpdateSessionNotification) -> None:
            pass

        async def session_request_permission(self, request: v2.RequestPermissionRequest) -> Any:
            raise NotImplementedError

    factory = as_v2(open=lambda client: v1.spawn_agent(client, "/no/such/agent"))
    async with v2.connect_in_process(factory, Client) as agent:
        with pytest.raises(Exception, match="-32603"):
            await agent.initialize(protocol_version=2, info=v2.Implementation(name="a", version="1"))
