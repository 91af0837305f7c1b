"""A load of a session that takes too long is dropped or cancelled, and the next one is not mixed with it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from acp_bindings import v1
from acp_kit.agent import Sessions
from acp_kit.client import ClientSession, open_session
from acp_kit.client.sessions import reopen_session
from acp_runtime import ResourceNotFound
from tests.support.event_loop import let_others_run, let_pass
from tests.support.kit.turns import Viewer
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import PlainAgent


class SlowAgent(PlainAgent):
    """Goes on with its first load when `go_on` is set."""

    def __init__(self, client: v1.RemoteClient) -> None:
        super().__init__(client)
        self.sessions = Sessions()
        self.loads = 0
        self.has_begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.fails = False
        self.was_cancelled = asyncio.Event()

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        resume = v1.SessionCapabilities(resume=v1.SessionResumeCapabilities())
        capabilities = v1.AgentCapabilities(load_session=True, session_capabilities=resume)
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=capabilities)

    async def session_resume(self, request: v1.ResumeSessionRequest) -> v1.ResumeSessionResponse:
        return v1.ResumeSessionResponse()

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        self.loads += 1
        session = self.sessions.create(self.client, cwd=request.cwd, session_id=request.session_id)
        async with session.turn() as turn:
            await turn.say("Earlier, ")
            self.has_begun.set()
            if self.loads == 1:
                await self._wait()
            await turn.say("later. ")
        if self.loads > 1:
            return v1.LoadSessionResponse()
        modes = v1.SessionModeState(current_mode_id="old", available_modes=[v1.SessionMode(id="old", name="Old")])
        return v1.LoadSessionResponse(modes=modes)

    async def _wait(self) -> None:
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.was_cancelled.set()
            raise
        if self.fails:
            raise ResourceNotFound


@asynccontextmanager
async def slow_loading() -> AsyncIterator[tuple[SlowAgent, v1.RemoteAgent]]:
    factory = RecordingFactory(SlowAgent)
    async with v1.connect_in_process(factory, Viewer) as remote:
        await remote.initialize(protocol_version=1)
        yield factory.handler, remote


async def load_too_slowly(session: ClientSession, agent: SlowAgent) -> None:
    """Let a load begin, and exceed its limit of 10 seconds."""
    reopening = asyncio.create_task(reopen_session(session, session.agent, 10))
    await agent.has_begun.wait()
    let_pass(10)
    with pytest.raises(TimeoutError, match="did not answer `session/load`"):
        await reopening


async def test_what_comes_of_a_load_that_took_too_long_is_dropped() -> None:
    async with slow_loading() as (agent, remote), open_session(remote, cwd="/work", resume="old") as session:
        await load_too_slowly(session, agent)
        reopening = asyncio.create_task(reopen_session(session, remote, 10))
        await let_others_run(50)
        assert (agent.loads, session.state.text) == (1, "")
        agent.go_on.set()
        await reopening
        assert (agent.loads, session.state.text) == (2, "Earlier, later. ")
        assert session.state.current_mode_id is None


async def test_a_load_that_is_never_answered_is_cancelled_and_sent_again() -> None:
    async with slow_loading() as (agent, remote), open_session(remote, cwd="/work", resume="old") as session:
        await load_too_slowly(session, agent)
        reopening = asyncio.create_task(reopen_session(session, remote, 10))
        let_pass(10)
        await agent.was_cancelled.wait()
        await reopening
        assert (agent.loads, session.state.text) == (2, "Earlier, later. ")


async def test_a_load_that_is_never_answered_is_cancelled_even_if_nobody_waits() -> None:
    async with slow_loading() as (agent, remote), open_session(remote, cwd="/work", resume="old") as session:
        await load_too_slowly(session, agent)
        let_pass(10)
        await agent.was_cancelled.wait()


async def test_a_load_that_took_too_long_is_cancelled_when_its_session_is_closed() -> None:
    async with slow_loading() as (agent, remote):
        async with open_session(remote, cwd="/work", resume="old") as session:
            await load_too_slowly(session, agent)
        await agent.was_cancelled.wait()


async def test_the_error_of_a_load_that_took_too_long_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    async with slow_loading() as (agent, remote), open_session(remote, cwd="/work", resume="old") as session:
        await load_too_slowly(session, agent)
        agent.fails = True
        agent.go_on.set()
        await reopen_session(session, remote, 10)
    gc.collect()
    assert not caplog.records
