"""Rules 19 and 23: leaving `spawn_agent` during a turn stops the turn, closes stdin, and reads until the exit."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import (
    PromptResponse,
    RemoteAgent,
    RequestPermissionRequest,
    RequestPermissionResponse,
    spawn_agent,
)
from acp_runtime import ConnectionClosed, Options
from tests.support.runtime.peer import PlainClient

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")]

# Records received messages and the end of stdin, one line each. Then writes more than the capacity of a pipe.
AGENT = """
import json, sys
ANSWERS = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": {"sessionId": "s1"},
}
ASKED = {"sessionId": "s1", "toolCall": {"toolCallId": "t"}, "options": []}
UPDATE = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x" * 999}}
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
with open(sys.argv[1], "w") as notes:
    def note(*words):
        print(*words, file=notes, flush=True)
    for line in map(json.loads, sys.stdin):
        method, params = line.get("method"), line.get("params", {})
        if method in ANSWERS:
            send(id=line["id"], result=ANSWERS[method])
            continue
        if method is None:
            note("answer", line["result"]["outcome"]["outcome"])
        else:
            note(method, params.get("sessionId", params.get("requestId")))
        if method == "session/prompt":
            prompt = line["id"]
            note("id", prompt)
            send(id="p", method="session/request_permission", params=ASKED)
            send(method="session/update", params={"sessionId": "s1", "update": UPDATE})
    note("EOF")
    for _ in range(1000):
        send(method="session/update", params={"sessionId": "s1", "update": UPDATE})
    send(id=prompt, result={"stopReason": "cancelled"})
    note("said all")
"""


class Waiting(PlainClient):
    """Never answers a permission request.

    Attributes:
        asked: set when the request was received.
        failures: the exceptions of prompts that another task waited for.
    """

    def __init__(self, agent: RemoteAgent) -> None:
        super().__init__(agent)
        self.asked = asyncio.Event()
        self.failures: list[BaseException | None] = []

    async def session_request_permission(self, request: RequestPermissionRequest, /) -> RequestPermissionResponse:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


def prompted(agent: RemoteAgent) -> asyncio.Task[PromptResponse]:
    return asyncio.ensure_future(agent.session_prompt(session_id="s1", prompt=[]))


async def leave(agent: RemoteAgent, client: Waiting) -> None:
    """Leave the block while another task waits for the turn."""
    task = prompted(agent)
    await client.asked.wait()
    task.add_done_callback(lambda task: client.failures.append(task.exception()))


async def fail(agent: RemoteAgent, client: Waiting) -> None:
    await leave(agent, client)
    raise ZeroDivisionError


async def be_cancelled(agent: RemoteAgent, client: Waiting) -> None:
    """Cancel the task of the block while it waits for the turn itself."""
    task = asyncio.current_task()
    assert task is not None
    cancelling = asyncio.ensure_future(client.asked.wait())
    cancelling.add_done_callback(lambda _: task.cancel())
    await agent.session_prompt(session_id="s1", prompt=[])


async def time_out(agent: RemoteAgent, client: Waiting) -> None:
    async with asyncio.timeout(None) as scope:
        soon = asyncio.ensure_future(client.asked.wait())
        soon.add_done_callback(lambda _: scope.reschedule(0))
        await agent.session_prompt(session_id="s1", prompt=[])


WAYS_TO_LEAVE: dict[Callable[[RemoteAgent, Waiting], Awaitable[None]], type[BaseException] | None] = {
    leave: None,
    fail: ZeroDivisionError,
    be_cancelled: asyncio.CancelledError,
    time_out: TimeoutError,
}


@pytest.mark.parametrize("body", WAYS_TO_LEAVE, ids=lambda body: str(body.__name__))
async def test_rule_19_leaving_during_a_turn_stops_the_turn_before_stdin_closes(
    body: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        options = Options(exit_deadline=60.0)
        command = (sys.executable, "-S", "-c", AGENT, str(tmp_path / "notes"))
        async with spawn_agent(Waiting, *command, options=options) as agent:
            await agent.initialize(protocol_version=1)
            await agent.session_new(cwd="/", mcp_servers=[])
            client = agent.handler
            assert isinstance(client, Waiting)
            clients.append(client)
            await body(agent, client)

    clients: list[Waiting] = []
    expected = WAYS_TO_LEAVE[body]
    with pytest.raises(expected) if expected else contextlib.nullcontext():
        await asyncio.create_task(run())
    notes = [line.split() for line in (tmp_path / "notes").read_text("utf-8").splitlines()]
    id = notes[1][1]
    assert [note for note in notes if note[0] != "answer"] == [
        ["session/prompt", "s1"],
        ["id", id],
        ["session/cancel", "s1"],
        ["$/cancel_request", id],
        ["EOF"],
        ["said", "all"],
    ]
    assert notes.index(["session/cancel", "s1"]) < notes.index(["answer", "cancelled"]) < notes.index(["EOF"])
    other_task_waits = body in (leave, fail)
    assert [type(error) for error in clients[0].failures] == [ConnectionClosed] * other_task_waits
    assert "SIGTERM" not in caplog.text
