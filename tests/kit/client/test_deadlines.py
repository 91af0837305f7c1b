"""An agent that never answers is an error that names it, instead of a program that hangs."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from acp_bindings.v1 import RemoteAgent, spawn_agent
from acp_kit import sync
from acp_kit.client import Supervised, open_session
from acp_kit.client.deadlines import time_limit
from acp_runtime import Options
from tests.support.kit.turns import Viewer

SILENT = """
import json, sys
sys.stderr.write("no \\x1b[31mkey\\n")
sys.stderr.flush()
first = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": first["id"], "result": {"protocolVersion": 1, "agentCapabilities":
    {"loadSession": True, "sessionCapabilities": {"resume": {}}}}}), flush=True)
sys.stdin.read()
"""
QUIET = Options(stderr="capture")
MESSAGE = (
    rf"^The agent {re.escape(repr(sys.executable))} did not answer `%s` within 0\.1 seconds\. "
    r"The end of its stderr:\nno \\x1b\[31mkey$"
)


async def test_the_agent_is_not_blamed_for_a_time_out_of_something_else() -> None:
    with pytest.raises(TimeoutError, match=r"^the disk$"):
        async with time_limit(60, lambda: "the agent"):
            raise TimeoutError("the disk")


@pytest.mark.parametrize(
    ("how", "method"), [({}, "session/new"), ({"load": "a"}, "session/load"), ({"resume": "a"}, "session/resume")]
)
async def test_a_session_that_is_never_opened_names_the_command_and_its_stderr(
    how: dict[str, str], method: str, tmp_path: Path
) -> None:
    async with spawn_agent(Viewer, sys.executable, "-c", SILENT, options=QUIET) as agent:
        await agent.initialize(protocol_version=1)
        process = agent.process
        assert process is not None
        while not process.stderr_tail:
            await asyncio.sleep(0.01)
        with pytest.raises(TimeoutError, match=MESSAGE % method):
            async with open_session(agent, cwd=tmp_path, timeout=0.1, **how):
                pass


async def test_an_agent_that_never_starts_fails_the_start_of_a_supervised_one() -> None:
    left: list[str] = []

    @asynccontextmanager
    async def start() -> AsyncGenerator[RemoteAgent]:
        try:
            await asyncio.Event().wait()
            yield
        finally:
            left.append("start")

    with pytest.raises(TimeoutError, match=r"could not be used within 0\.1 seconds \(Supervised\.start_deadline\)"):
        async with Supervised(start, start_deadline=0.1):
            pass
    assert left == ["start"]


def test_without_await_the_same_deadlines_hold() -> None:
    late = pytest.raises(TimeoutError, match=r"did not answer `session/new` within 0\.1 seconds")
    with sync.spawn_agent(sys.executable, "-c", SILENT, options=QUIET) as agent, late:
        agent.open_session(timeout=0.1)
