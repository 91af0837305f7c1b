"""Rules 19 and 23: leaving `spawn_agent` in mid-turn stops the turn, then closes stdin, and reads on until the exit."""

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

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX"),
]

# Notes what it is sent, one word a line, and that stdin ended. Then it has more to say than any pipe holds.
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
    """Leaves a permission to a person who doesn't answer."""

    def __init__(self, agent: RemoteAgent) -> None:
        super().__init__(agent)
        self.asked = asyncio.Event()

    async def session_request_permission(self, request: RequestPermissionRequest, /) -> RequestPermissionResponse:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


def prompted(agent: RemoteAgent) -> asyncio.Task[PromptResponse]:
    return asyncio.ensure_future(agent.session_prompt(session_id="s1", prompt=[]))


async def leave(agent: RemoteAgent, asked: asyncio.Event) -> None:
    """The block is left while another task waits for the turn."""
    task = prompted(agent)
    await asked.wait()
    task.add_done_callback(lambda task: failures.append(task.exception()))


async def fail(agent: RemoteAgent, asked: asyncio.Event) -> None:
    await leave(agent, asked)
    raise ZeroDivisionError


async def be_cancelled(agent: RemoteAgent, asked: asyncio.Event) -> None:
    """The task of the block waits for the turn itself, and is cancelled."""
    task = asyncio.current_task()
    assert task is not None
    cancelling = asyncio.ensure_future(asked.wait())
    cancelling.add_done_callback(lambda _: task.cancel())
    await agent.session_prompt(session_id="s1", prompt=[])


async def time_out(agent: RemoteAgent, asked: asyncio.Event) -> None:
    async with asyncio.timeout(None) as scope:
        soon = asyncio.ensure_future(asked.wait())
        soon.add_done_callback(lambda _: scope.reschedule(0))
        await agent.session_prompt(session_id="s1", prompt=[])


failures: list[BaseException | None] = []
LEFT: dict[Callable[[RemoteAgent, asyncio.Event], Awaitable[None]], type[BaseException] | None] = {
    leave: None,
    fail: ZeroDivisionError,
    be_cancelled: asyncio.CancelledError,
    time_out: TimeoutError,
}


@pytest.mark.parametrize("body", LEFT, ids=lambda body: str(body.__name__))
async def test_rule_19_leaving_in_mid_turn_stops_the_turn_before_stdin_closes(
    body: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        options = Options(exit_deadline=60.0)
        command = (sys.executable, "-c", AGENT, str(tmp_path / "notes"))
        async with spawn_agent(Waiting, *command, options=options) as agent:
            await agent.initialize(protocol_version=1)
            await agent.session_new(cwd="/", mcp_servers=[])
            client = agent.handler
            assert isinstance(client, Waiting)
            await body(agent, client.asked)

    failures.clear()
    expected = LEFT[body]
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
    assert all(isinstance(error, ConnectionClosed) for error in failures)
    assert "SIGTERM" not in caplog.text
