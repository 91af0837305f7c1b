"""An agent process that dies is started again, with its sessions, and not for ever."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import AgentChange, AgentFailed, ClientSession, SessionLost, Supervised
from acp_runtime import CapabilityError, ConnectionClosed, Options, ResourceNotFound
from tests.support.kit import mortal_agent
from tests.support.kit.turns import Viewer
from tools.paths import ROOT

pytestmark = pytest.mark.slow  # they start many processes

Start = Callable[[], AbstractAsyncContextManager[v1.RemoteAgent]]
# An agent that ran for no time at all has all attempts again.
FORGET = 0.0
NEVER_FORGET = 1e9


class Changes(list[AgentChange]):
    """The changes so far. `until` waits for one."""

    def __init__(self) -> None:
        super().__init__()
        self._news = asyncio.Event()

    def __call__(self, change: AgentChange) -> None:
        self.append(change)
        self._news.set()

    async def until(self, status: str) -> AgentChange:
        while not self or self[-1].status != status:
            self._news.clear()
            await self._news.wait()
        return self[-1]

    @property
    def statuses(self) -> list[str]:
        return [change.status for change in self]


def starting(folder: Path, *can: str) -> Start:
    """Return what starts an agent in a folder, with these abilities."""

    @asynccontextmanager
    async def start() -> AsyncGenerator[v1.RemoteAgent]:
        options, env = Options(stderr="capture", exit_deadline=60), {"PYTHONPATH": str(ROOT)}
        command = [*mortal_agent.COMMAND, *can]
        async with v1.spawn_agent(Viewer, *command, cwd=folder, env=env, options=options) as agent:
            await agent.initialize(protocol_version=1)
            yield agent

    return start


def starting_beside(folder: Path, coroutines: list[Coroutine[Any, Any, None]]) -> Start:
    """Return what starts an agent. The last of the coroutines begins one step before the agent is ready."""

    @asynccontextmanager
    async def start() -> AsyncGenerator[v1.RemoteAgent]:
        async with starting(folder, "load")() as agent, asyncio.TaskGroup() as tasks:
            if coroutines:
                tasks.create_task(coroutines.pop())
                await asyncio.sleep(0)
            yield agent

    return start


def kill(agent: v1.RemoteAgent) -> None:
    assert agent.process is not None
    os.kill(agent.process.pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


async def prompted(session: ClientSession, text: str) -> str:
    """Send a prompt, and return what the agent has said in the session so far."""
    async with session.prompt(text) as turn:
        await turn.wait()
    return session.state.text


async def die(session: ClientSession) -> None:
    with pytest.raises(ConnectionClosed) as caught:
        await prompted(session, "die")
    assert caught.value.exit_code == 3


def said(session: ClientSession) -> list[str]:
    return [message.text.partition(" of ")[0] for message in session.state.messages]


async def test_the_next_prompt_after_a_killed_agent_has_the_history(tmp_path: Path) -> None:
    changes = Changes()
    async with (
        Supervised(starting(tmp_path, "load"), delays=[0], on_change=changes) as agents,
        agents.open_session(cwd=tmp_path) as session,
    ):
        first = await agents.agent()
        with pytest.raises(ConnectionClosed):
            async with session.prompt("hang") as turn:
                async for _ in turn:
                    kill(first)
        assert said(session) == ["hang", "prompt 1"]
        await prompted(session, "again")
        # The prompt "hang" was not sent again, and what the agent has forgotten is kept.
        assert said(session) == ["hang", "prompt 1", "again", "prompt 2"]
        second = await agents.agent()
        assert second is session.agent is not first
        assert second.process is not None
        assert first.process is not None
        assert first.process.returncode is not None
        assert second.process.pid != first.process.pid
    assert changes.statuses == ["restarting", "running"]
    assert isinstance(changes[0].error, ConnectionClosed)
    assert changes[1].lost == {}


async def test_an_agent_that_can_only_resume_keeps_the_state(tmp_path: Path) -> None:
    async with (
        Supervised(starting(tmp_path, "resume"), delays=[0]) as agents,
        agents.open_session(cwd=tmp_path) as session,
    ):
        state = session.state
        await prompted(session, "one")
        await die(session)
        await prompted(session, "two")
        assert session.state is state
        assert said(session) == ["one", "prompt 1", "die", "two", "prompt 3"]


async def test_a_session_is_opened_again_with_its_directories_and_mcp_servers(tmp_path: Path) -> None:
    server = v1.McpServerStdio(name="tools", command="/bin/tools", args=[], env=[])
    async with (
        Supervised(starting(tmp_path, "load"), delays=[0]) as agents,
        agents.open_session(cwd=tmp_path, mcp_servers=[server], additional_directories=["/a", "/b"]) as session,
    ):
        await die(session)
        await prompted(session, "again")
    new, load = mortal_agent.read_openings(tmp_path)
    assert new["params"] == {
        "cwd": str(tmp_path),
        "mcpServers": [server.model_dump()],
        "additionalDirectories": ["/a", "/b"],
    }
    assert load["params"] == {"sessionId": session.id, **new["params"]}


@pytest.mark.parametrize("way", ["load", "resume"])
async def test_an_earlier_session_is_loaded_or_resumed(tmp_path: Path, way: str) -> None:
    (tmp_path / "old").touch()
    arguments: Any = {way: "old"}
    async with (
        Supervised(starting(tmp_path, way)) as agents,
        agents.open_session(cwd=tmp_path, **arguments) as session,
    ):
        assert session.id == "old"
    assert [opening["method"] for opening in mortal_agent.read_openings(tmp_path)] == [f"session/{way}"]


async def test_a_session_that_the_agent_does_not_open_in_time_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    (tmp_path / "stuck").write_text("old")
    async with Supervised(starting(tmp_path, "load")) as agents:
        with pytest.raises(TimeoutError, match="session/load"):
            async with agents.open_session(cwd=tmp_path, load="old", timeout=0):
                pytest.fail("the block was entered")


@pytest.mark.parametrize("late", [False, True], ids=["before", "while the next agent starts"])
async def test_a_session_whose_block_was_left_is_not_opened_again(tmp_path: Path, late: bool) -> None:
    changes, beside = Changes(), list[Coroutine[Any, Any, None]]()
    async with (
        Supervised(starting_beside(tmp_path, beside), delays=[0], on_change=changes) as agents,
        AsyncExitStack() as sessions,
    ):
        await sessions.enter_async_context(agents.open_session(cwd=tmp_path))

        async def leave() -> None:
            await asyncio.sleep(0)
            await sessions.aclose()

        if late:
            beside.append(leave())
        else:
            await sessions.aclose()
        kill(await agents.agent())
        await changes.until("running")
    assert [opening["method"] for opening in mortal_agent.read_openings(tmp_path)] == ["session/new"]


async def test_sessions_that_can_not_be_opened_again_are_named(tmp_path: Path) -> None:
    changes = Changes()
    async with (
        Supervised(starting(tmp_path, "load"), delays=[0], on_change=changes) as agents,
        agents.open_session(cwd=tmp_path) as kept,
        agents.open_session(cwd=tmp_path) as gone,
    ):
        (tmp_path / gone.id).unlink()
        await die(kept)
        assert "prompt 2" in await prompted(kept, "go on")
        with pytest.raises(SessionLost, match=gone.id) as caught:
            await prompted(gone, "go on")
        assert isinstance(caught.value.__cause__, ResourceNotFound)
        lost = (await changes.until("running")).lost
        assert {session_id: type(error) for session_id, error in lost.items()} == {
            gone.id: type(caught.value.__cause__)
        }


async def test_a_lost_session_is_opened_again_at_its_next_use(tmp_path: Path) -> None:
    changes = Changes()
    async with (
        Supervised(starting(tmp_path, "load"), delays=[0], on_change=changes) as agents,
        agents.open_session(cwd=tmp_path) as session,
    ):
        (tmp_path / "busy").touch()
        await die(session)
        assert [*(await changes.until("running")).lost] == [session.id]
        for _ in range(2):
            with pytest.raises(SessionLost, match="The MCP server has not answered yet"):
                await prompted(session, "go on")
        (tmp_path / "busy").unlink()
        await asyncio.gather(*(session.ready() for _ in range(3)))
        assert "prompt 2" in await prompted(session, "go on")
        assert said(session) == ["die", "go on", "prompt 2"]


async def test_a_lost_session_is_opened_again_with_the_next_agent(tmp_path: Path) -> None:
    changes = Changes()
    async with (
        Supervised(starting(tmp_path, "load"), delays=[0], stable_after=FORGET, on_change=changes) as agents,
        agents.open_session(cwd=tmp_path) as session,
    ):
        (tmp_path / "busy").touch()
        await die(session)
        await changes.until("running")
        (tmp_path / "busy").unlink()
        kill(await agents.agent())
        await changes.until("restarting")
        assert (await changes.until("running")).lost == {}
        assert "prompt 2" in await prompted(session, "go on")


async def test_a_lost_session_that_is_used_as_the_next_agent_becomes_ready_is_opened_once(tmp_path: Path) -> None:
    changes, beside = Changes(), list[Coroutine[Any, Any, None]]()
    async with (
        Supervised(starting_beside(tmp_path, beside), delays=[0], stable_after=FORGET, on_change=changes) as agents,
        agents.open_session(cwd=tmp_path) as session,
    ):
        (tmp_path / "busy").touch()
        await die(session)
        await changes.until("running")
        (tmp_path / "busy").unlink()
        beside.append(session.ready())
        kill(await agents.agent())
        await changes.until("restarting")
        await changes.until("running")
    assert [opening["method"] for opening in mortal_agent.read_openings(tmp_path)] == [
        "session/new",
        "session/load",
        "session/load",
    ]


async def test_a_session_that_the_agent_never_opens_again_is_lost_after_a_deadline(tmp_path: Path) -> None:
    changes = Changes()
    async with (
        Supervised(starting(tmp_path, "load"), delays=[0], reopen_deadline=0.5, on_change=changes) as agents,
        agents.open_session(cwd=tmp_path) as stuck,
    ):
        (tmp_path / "stuck").write_text(stuck.id)
        await die(stuck)
        with pytest.raises(SessionLost, match=r"did not answer `session/load` within 0\.5 seconds"):
            await prompted(stuck, "go on")
        assert [*(await changes.until("running")).lost] == [stuck.id]
        async with agents.open_session(cwd=tmp_path) as another:
            assert await prompted(another, "hello")


async def test_an_agent_that_can_neither_load_nor_resume_loses_its_sessions(tmp_path: Path) -> None:
    async with Supervised(starting(tmp_path), delays=[0]) as agents:
        async with agents.open_session(cwd=tmp_path) as session:
            await die(session)
            with pytest.raises(SessionLost) as caught:
                await session.set_mode("any")
            assert isinstance(caught.value.__cause__, CapabilityError)
        async with agents.open_session(cwd=tmp_path) as another:
            assert await prompted(another, "hello")


async def test_an_agent_that_dies_while_it_is_started_again_has_further_attempts(tmp_path: Path) -> None:
    changes = Changes()

    def mend(change: AgentChange) -> None:
        changes(change)
        if changes.statuses == ["restarting"] * 2:
            (tmp_path / "broken").unlink()

    async with (
        Supervised(starting(tmp_path, "load"), delays=[0] * 5, on_change=mend) as agents,
        agents.open_session(cwd=tmp_path) as session,
    ):
        (tmp_path / "broken").touch()
        await die(session)
        assert "prompt 2" in await prompted(session, "go on")
        assert changes.statuses == ["restarting", "restarting", "running"]
        assert [getattr(change.error, "exit_code", None) for change in changes] == [3, 4, None]


async def test_it_gives_up_after_all_delays_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    changes = Changes()
    async with (
        Supervised(
            starting(tmp_path, "load"), delays=[0, 0, 0], stable_after=NEVER_FORGET, on_change=changes
        ) as agents,
        agents.open_session(cwd=tmp_path) as session,
    ):
        (tmp_path / "broken").touch()
        await die(session)
        with pytest.raises(AgentFailed, match="4 times in a row") as caught:
            await prompted(session, "go on")
        assert getattr(caught.value.__cause__, "exit_code", None) == 4
        with pytest.raises(AgentFailed):
            await agents.agent()
        with pytest.raises(AgentFailed):
            async with agents.open_session(cwd=tmp_path):
                pytest.fail("a session was opened")
    assert changes.statuses == [*["restarting"] * 3, "failed"]
    assert changes[-1].error is caught.value.__cause__
    assert [record.levelname for record in caplog.records if "4 times in a row" in record.message] == ["ERROR"]


async def test_an_agent_that_ran_long_enough_has_all_attempts_again(tmp_path: Path) -> None:
    async with (
        Supervised(starting(tmp_path, "load"), delays=[0], stable_after=FORGET) as agents,
        agents.open_session(cwd=tmp_path) as session,
    ):
        for _ in range(3):
            await die(session)
        assert "prompt 4" in await prompted(session, "go on")


async def test_leaving_the_block_ends_an_attempt_that_hangs(tmp_path: Path) -> None:
    started = asyncio.Event()
    managers = iter([starting(tmp_path)(), hanging(started)])
    async with Supervised(managers.__next__, delays=[0]) as agents:
        kill(await agents.agent())
        await started.wait()


@asynccontextmanager
async def hanging(started: asyncio.Event) -> AsyncGenerator[Any]:
    started.set()
    await asyncio.Event().wait()
    yield None


async def test_the_error_of_the_first_start_is_raised_before_the_block() -> None:
    def start() -> AbstractAsyncContextManager[v1.RemoteAgent]:
        raise ZeroDivisionError

    entered = False
    with pytest.raises(ZeroDivisionError):
        async with Supervised(start):
            entered = True
    assert not entered


async def test_the_error_that_prevents_a_restart_is_raised_when_the_block_ends(tmp_path: Path) -> None:
    delays: Any = ["not a number"]
    with pytest.raises(TypeError):
        async with Supervised(starting(tmp_path), delays=delays) as agents:
            kill(await agents.agent())
            with pytest.raises(ConnectionClosed, match="because of an error"):
                while True:
                    await agents.agent()


async def test_a_first_start_that_hangs_can_be_cancelled() -> None:
    started = asyncio.Event()

    async def use() -> None:
        async with Supervised(lambda: hanging(started)):
            pytest.fail("the block was entered")

    task = asyncio.create_task(use())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_no_process_is_left_when_the_block_ends_with_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with Supervised(starting(tmp_path), delays=[0]) as agents:
            agent = await agents.agent()
            raise ZeroDivisionError
    assert agent.process is not None
    assert agent.process.returncode == 0


async def test_whoever_tries_again_at_once_reaches_the_next_agent(tmp_path: Path) -> None:
    async with Supervised(starting(tmp_path), delays=[0]) as agents:
        kill(first := await agents.agent())
        while True:
            with suppress(ConnectionClosed):
                async with agents.open_session(cwd=tmp_path) as session:
                    break
        assert session.agent is not first


async def test_an_error_of_on_change_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def fail(change: AgentChange) -> None:
        raise ZeroDivisionError(change.status)

    async with (
        Supervised(starting(tmp_path, "load"), delays=[0], on_change=fail) as agents,
        agents.open_session(cwd=tmp_path) as session,
    ):
        await die(session)
        assert await prompted(session, "go on")
    assert "ZeroDivisionError: restarting" in caplog.text


async def test_it_can_not_be_used_outside_of_its_block_or_twice(tmp_path: Path) -> None:
    agents = Supervised(starting(tmp_path))
    with pytest.raises(RuntimeError, match="in a block"):
        await agents.agent()
    async with agents:
        pass
    with pytest.raises(RuntimeError, match="one block"):
        async with agents:
            pytest.fail("the block was entered")
