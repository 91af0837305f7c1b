"""A terminal of the client is waited for, killed when its time is over, and always released."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import (
    ClientCapabilities,
    CreateTerminalRequest,
    CreateTerminalResponse,
    KillTerminalRequest,
    KillTerminalResponse,
    ReleaseTerminalRequest,
    ReleaseTerminalResponse,
    RemoteAgent,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
)
from acp_kit.agent import TerminalResult, Turn
from acp_runtime import CapabilityError, RemoteError
from tests.support.kit.turns import Conversation, KeepingClient, conversation

TERMINALS = ClientCapabilities(terminal=True)


class Terminals(KeepingClient):
    """Keeps the calls; a command exits when it is killed or released, or at once if it is `true`."""

    def __init__(self, agent: RemoteAgent) -> None:
        super().__init__(agent)
        self.calls: list[str] = []
        self.created: CreateTerminalRequest | None = None
        self.creating = asyncio.Event()
        self.may_create = asyncio.Event()
        self.may_create.set()
        self.exited = asyncio.Event()
        self.released = asyncio.Event()
        self.signal: str | None = None

    async def terminal_create(self, request: CreateTerminalRequest) -> CreateTerminalResponse:
        self.calls.append("create")
        self.created = request
        self.creating.set()
        if request.command == "true":
            self.exited.set()
        await self.may_create.wait()
        return CreateTerminalResponse(terminal_id="t1")

    async def terminal_wait_for_exit(self, request: WaitForTerminalExitRequest) -> WaitForTerminalExitResponse:
        self.calls.append("wait")
        await self.exited.wait()
        if self.signal:
            return WaitForTerminalExitResponse(signal=self.signal)
        return WaitForTerminalExitResponse(exit_code=0)

    async def terminal_output(self, request: TerminalOutputRequest) -> TerminalOutputResponse:
        self.calls.append("output")
        return TerminalOutputResponse(output="out", truncated=True)

    async def terminal_kill(self, request: KillTerminalRequest) -> KillTerminalResponse:
        self.calls.append("kill")
        self.signal = "SIGKILL"
        self.exited.set()
        return KillTerminalResponse()

    async def terminal_release(self, request: ReleaseTerminalRequest) -> ReleaseTerminalResponse:
        self.calls.append(f"release {request.terminal_id}")
        self.released.set()
        return ReleaseTerminalResponse()


def terminals(talk: Conversation) -> Terminals:
    assert isinstance(talk.client, Terminals)
    return talk.client


async def test_a_command_is_run_in_the_session_s_directory_and_released() -> None:
    results: list[Any] = []

    async def act(turn: Turn) -> None:
        async with turn.terminal("true", "-q", env={"A": "1"}, output_byte_limit=100) as terminal:
            results.append(await terminal.wait())

    async with conversation(Terminals, TERMINALS) as talk:
        assert await talk.prompt(act) == "end_turn"
        assert results == [TerminalResult(exit_code=0, signal=None, output="out", truncated=True, timed_out=False)]
        client = terminals(talk)
        assert client.calls == ["create", "wait", "output", "release t1"]
        assert client.created is not None
        assert (client.created.command, client.created.args, client.created.cwd) == ("true", ["-q"], "/work")
        assert [(variable.name, variable.value) for variable in client.created.env] == [("A", "1")]
        assert client.created.output_byte_limit == 100


@pytest.mark.parametrize("cwd", [Path("/work/sub"), "sub"])
async def test_a_command_may_have_a_directory_of_its_own(cwd: str | Path) -> None:
    async def act(turn: Turn) -> None:
        async with turn.terminal("true", cwd=cwd):
            pass

    async with conversation(Terminals, TERMINALS) as talk:
        await talk.prompt(act)
        created = terminals(talk).created
        assert created is not None
        assert created.cwd == "/work/sub"


async def test_a_command_that_takes_too_long_is_killed() -> None:
    results: list[TerminalResult] = []

    async def act(turn: Turn) -> None:
        async with turn.terminal("sleep", "9") as terminal:
            results.append(await terminal.wait(timeout=0))

    async with conversation(Terminals, TERMINALS) as talk:
        await talk.prompt(act)
        (result,) = results
        assert (result.timed_out, result.exit_code, result.signal) == (True, None, "SIGKILL")
        assert terminals(talk).calls[-4:] == ["kill", "wait", "output", "release t1"]


async def test_a_terminal_is_released_when_the_turn_is_cancelled() -> None:
    async def act(turn: Turn) -> None:
        async with turn.terminal("sleep", "9") as terminal:
            await terminal.wait()

    async with conversation(Terminals, TERMINALS) as talk:
        prompt = asyncio.create_task(talk.prompt(act))
        await terminals(talk).creating.wait()
        await talk.agent.session_cancel(session_id=talk.session_id)
        assert await prompt == "cancelled"
        assert terminals(talk).calls[-1] == "release t1"


async def test_a_terminal_is_released_when_the_turn_is_cancelled_while_it_is_created() -> None:
    async def act(turn: Turn) -> None:
        async with turn.terminal("sleep", "9"):
            pytest.fail("the block was entered")

    async with conversation(Terminals, TERMINALS) as talk:
        client = terminals(talk)
        client.may_create.clear()
        prompt = asyncio.create_task(talk.prompt(act))
        await client.creating.wait()
        await talk.agent.session_cancel(session_id=talk.session_id)
        client.may_create.set()
        assert await prompt == "cancelled"
        assert client.calls == ["create", "release t1"]


async def test_a_terminal_is_released_when_the_block_raises() -> None:
    async def act(turn: Turn) -> None:
        async with turn.terminal("true"):
            raise ValueError("no")

    async with conversation(Terminals, TERMINALS) as talk:
        with pytest.raises(RemoteError):
            await talk.prompt(act)
        assert terminals(talk).calls == ["create", "release t1"]


async def test_a_terminal_is_content_of_a_tool_call() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Run true", kind="execute") as call, turn.terminal("true") as terminal:
            call.output(terminal.content)
            await call.update()
            await terminal.wait()

    async with conversation(Terminals, TERMINALS) as talk:
        await talk.prompt(act)
        assert [each.terminal_id for each in talk.updates[1].content] == ["t1"]


async def test_a_client_without_terminals_is_not_asked_for_one() -> None:
    async def act(turn: Turn) -> None:
        with pytest.raises(CapabilityError):
            async with turn.terminal("true"):
                pass

    async with conversation(Terminals) as talk:
        assert await talk.prompt(act) == "end_turn"
        assert terminals(talk).calls == []
