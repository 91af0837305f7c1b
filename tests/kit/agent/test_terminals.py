"""A terminal of the client is waited for, killed when its time is over, and always released."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from acp_bindings.v1 import RemoteClient
from acp_kit.agent import Session, Terminal, TerminalResult, Turn, terminals
from acp_runtime import CapabilityError, RemoteError
from tests.support.kit.turns import conversation


class Client:
    """Stands for a proxy. Calls in `silent` are answered once `answering` is set, those in `refused` with an error.

    A command exits when it is killed, or at once if it is `true`.
    """

    def __init__(self, silent: Iterable[str] = (), refused: Iterable[str] = ()) -> None:
        self.silent, self.refused = silent, refused
        self.calls: list[str] = []
        self.created: dict[str, Any] = {}
        self.waiting = asyncio.Event()
        self.answering = asyncio.Event()
        self.exited = asyncio.Event()
        self.answered: list[str] = []
        self.updates: list[Any] = []

    async def _answer(self, name: str, **answer: Any) -> Any:
        self.calls.append(name)
        if name in self.silent:
            self.waiting.set()
            await self.answering.wait()
        if name in self.refused:
            raise RemoteError(-32603, f"no {name}")
        self.answered.append(name)
        return SimpleNamespace(**answer)

    async def terminal_create(self, **created: Any) -> Any:
        self.created = created
        if created["command"] == "true":
            self.exited.set()
        return await self._answer("create", terminal_id="t1")

    async def terminal_release(self, **_: Any) -> Any:
        return await self._answer("release")

    async def terminal_kill(self, **_: Any) -> Any:
        self.exited.set()
        return await self._answer("kill")

    async def terminal_wait_for_exit(self, **_: Any) -> Any:
        await self.exited.wait()
        killed = "kill" in self.calls
        return await self._answer("wait", exit_code=None if killed else 0, signal="SIGKILL" if killed else None)

    async def terminal_output(self, **_: Any) -> Any:
        return await self._answer("output", output="so far", truncated=True)

    async def session_update(self, *, session_id: str, update: Any) -> None:
        self.updates.append(update)

    async def end(self) -> None:
        """Answer, and wait until nothing runs any more."""
        self.answering.set()
        if left := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(left)


@asynccontextmanager
async def turn_with(client: Client) -> AsyncIterator[Turn]:
    proxy: Any = client
    remote: RemoteClient = proxy
    async with Session(remote, "s", cwd="/work").turn() as turn:
        yield turn


@asynccontextmanager
async def terminal(client: Client, command: str = "sleep") -> AsyncIterator[Terminal]:
    async with turn_with(client) as turn, turn.terminal(command) as started:
        yield started


async def test_a_command_is_run_in_the_session_s_directory_and_released() -> None:
    client = Client()
    async with turn_with(client) as turn, turn.terminal("true", "-q", env={"A": "1"}, output_byte_limit=100) as started:
        result = await started.wait()
    assert result == TerminalResult(exit_code=0, signal=None, output="so far", truncated=True, timed_out=False)
    assert client.calls == ["create", "wait", "output", "release"]
    created = SimpleNamespace(**client.created)
    assert (created.command, created.args, created.cwd, created.output_byte_limit) == ("true", ("-q",), "/work", 100)
    assert [(variable.name, variable.value) for variable in created.env] == [("A", "1")]


async def test_a_command_that_takes_too_long_is_killed() -> None:
    client = Client()
    async with terminal(client) as started:
        result = await started.wait(timeout=0)
    assert (result.timed_out, result.exit_code, result.signal) == (True, None, "SIGKILL")
    assert client.calls[-4:] == ["kill", "wait", "output", "release"]


async def test_a_client_without_terminals_is_not_asked_for_one() -> None:
    async def act(turn: Turn) -> None:
        with pytest.raises(CapabilityError):
            async with turn.terminal("true"):
                pass

    async with conversation() as talk:
        assert await talk.prompt(act) == "end_turn"


@pytest.mark.parametrize("silent", ["create", "wait", "release"])
@pytest.mark.parametrize("times", [1, 2])
async def test_a_cancelled_turn_ends_although_the_client_does_not_answer(
    silent: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals, "_DEADLINE", 0.01)
    client = Client(silent=[silent])

    async def work() -> None:
        async with terminal(client, "true") as started:
            assert silent != "create", "the block was entered"
            if silent == "wait":
                await started.wait()

    working = asyncio.create_task(work())
    await client.waiting.wait()
    for _ in range(times):
        working.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await working
    assert silent not in client.answered
    await client.end()
    assert client.answered == ["create", "release"], "a late terminal is released"


async def test_a_terminal_that_can_not_be_released_hides_no_error() -> None:
    with pytest.raises(ValueError, match="no") as raised:
        async with terminal(Client(refused=["release"])):
            raise ValueError("no")
    assert raised.value.__notes__ == ["The terminal 't1' could not be released: no release (-32603)"]
    with pytest.raises(RemoteError, match="no release"):
        async with terminal(Client(refused=["release"])):
            pass


async def test_the_output_so_far_is_read_while_the_command_runs() -> None:
    client = Client()
    async with terminal(client) as command:
        assert await command.output() == "so far"
