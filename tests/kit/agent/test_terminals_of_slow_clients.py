"""A turn ends although the client does not answer about a terminal, and an error of its block is not hidden."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from acp_bindings.v1 import RemoteClient
from acp_kit.agent import Session, Terminal, TerminalResult, terminals
from acp_runtime import RemoteError


class Client:
    """Stands for a proxy. Calls in `silent` are answered once `answering` is set, those in `refused` with an error."""

    def __init__(self, silent: Iterable[str] = (), refused: Iterable[str] = ()) -> None:
        self.silent, self.refused = silent, refused
        self.calls: list[str] = []
        self.waiting = asyncio.Event()
        self.answering = asyncio.Event()
        self.answered: list[str] = []

    async def _answer(self, name: str) -> Any:
        self.calls.append(name)
        if name in self.silent:
            self.waiting.set()
            await self.answering.wait()
        if name in self.refused:
            raise RemoteError(-32603, f"no {name}")
        self.answered.append(name)
        return SimpleNamespace(terminal_id="t1")

    async def terminal_create(self, **_: Any) -> Any:
        return await self._answer("create")

    async def terminal_release(self, **_: Any) -> Any:
        return await self._answer("release")

    async def terminal_kill(self, **_: Any) -> Any:
        return await self._answer("kill")

    async def terminal_wait_for_exit(self, **_: Any) -> Any:
        return await self._answer("wait")

    async def terminal_output(self, **_: Any) -> Any:
        return SimpleNamespace(output="so far", truncated=False)

    async def end(self) -> None:
        """Answer, and wait until nothing runs any more."""
        self.answering.set()
        if left := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(left)


@asynccontextmanager
async def terminal(client: Client) -> AsyncIterator[Terminal]:
    proxy: Any = client
    remote: RemoteClient = proxy
    async with Session(remote, "s", cwd="/work").turn() as turn, turn.terminal("sleep") as found:
        yield found


@pytest.mark.parametrize("name", ["create", "release"])
async def test_a_cancelled_turn_ends_although_the_client_does_not_answer(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals, "_DEADLINE", 0.01)
    client = Client(silent=[name])

    async def work() -> None:
        async with terminal(client):
            pass

    working = asyncio.create_task(work())
    await client.waiting.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert name not in client.answered
    await client.end()
    assert client.answered == ["create", "release"], "a late terminal is released"


@pytest.mark.parametrize("name", ["create", "release"])
async def test_a_second_cancellation_leaves_no_terminal_behind(name: str) -> None:
    client = Client(silent=[name])

    async def work() -> None:
        async with terminal(client):
            pass

    working = asyncio.create_task(work())
    await client.waiting.wait()
    for _ in range(2):
        working.cancel()
        await asyncio.sleep(0)
    client.answering.set()
    with pytest.raises(asyncio.CancelledError):
        await working
    await client.end()
    assert client.answered == ["create", "release"]


async def test_a_terminal_that_can_not_be_released_does_not_hide_the_error_of_the_block() -> None:
    with pytest.raises(ValueError, match="no") as raised:
        async with terminal(Client(refused=["release"])):
            raise ValueError("no")
    assert raised.value.__notes__ == ["The terminal 't1' could not be released: no release (-32603)"]
    with pytest.raises(RemoteError, match="no release"):
        async with terminal(Client(refused=["release"])):
            pass


@pytest.mark.parametrize("silent", [["wait"], ["wait", "kill"]])
async def test_a_timeout_ends_the_wait_although_the_client_does_not_say_that_the_command_has_exited(
    silent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals, "_DEADLINE", 0.01)
    client = Client(silent=silent)
    async with terminal(client) as found:
        result = await found.wait(0.01)
    assert result == TerminalResult(exit_code=None, signal=None, output="so far", truncated=False, timed_out=True)
    assert "kill" in client.calls
    assert client.answered[-1] == "release"
