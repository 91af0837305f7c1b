"""Sessions are opened, prompted, left early and closed, and reading slowly blocks nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.client import UnfinishedTurn, deliver_update, find_session, open_session
from acp_runtime import InvalidResponse, ResourceNotFound
from tests.support.kit.turns import Act, AgentWithSettings, KeepingClient
from tests.support.recording_factory import RecordingFactory


class SessionAgent(AgentWithSettings):
    """Loads, resumes and closes sessions."""

    def __init__(self, client: v1.RemoteClient, acts: list[Act]) -> None:
        super().__init__(client, acts, [])
        self.closed: list[str] = []

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        capabilities = v1.SessionCapabilities(
            close=v1.SessionCloseCapabilities(), resume=v1.SessionResumeCapabilities()
        )
        return v1.InitializeResponse(
            protocol_version=1,
            agent_capabilities=v1.AgentCapabilities(load_session=True, session_capabilities=capabilities),
        )

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        response = await super().session_new(request)
        if request.cwd == "/welcome":
            async with self.sessions[response.session_id].turn() as turn:
                await turn.say("Welcome. ")
        return response

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        if request.session_id == "missing":
            raise ResourceNotFound
        session = self.sessions.create(self.client, cwd=request.cwd, session_id=request.session_id)
        async with session.turn() as turn:
            await turn.say("Earlier. ")
        return v1.LoadSessionResponse()

    async def session_resume(self, request: v1.ResumeSessionRequest) -> v1.ResumeSessionResponse:
        self.sessions.create(self.client, cwd=request.cwd, session_id=request.session_id)
        return v1.ResumeSessionResponse()

    async def session_close(self, request: v1.CloseSessionRequest) -> v1.CloseSessionResponse:
        self.closed.append(request.session_id)
        return v1.CloseSessionResponse()


class DeliveringClient(KeepingClient):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        super().__init__(agent)
        self.delivered: list[bool] = []

    async def session_update(self, notification: v1.SessionNotification) -> None:
        self.delivered.append(deliver_update(self.agent, notification))


@dataclass
class Pair:
    agent: v1.RemoteAgent
    handler: SessionAgent

    @property
    def client(self) -> DeliveringClient:
        client: DeliveringClient = self.agent.handler
        return client


@asynccontextmanager
async def connected(*acts: Act) -> AsyncIterator[Pair]:
    factory = RecordingFactory(lambda client: SessionAgent(client, [*acts]))
    async with v1.connect_in_process(factory, DeliveringClient) as agent:
        await agent.initialize(protocol_version=1)
        yield Pair(agent, factory.handler)


def says(*texts: str) -> Act:
    async def act(turn: Turn) -> None:
        for text in texts:
            await turn.say(text)

    return act


says_three = says("one ", "two ", "three")


def text_of(update: v1.SessionUpdate) -> str:
    assert update.session_update == "agent_message_chunk"
    assert isinstance(update.content, v1.ContentBlockText)
    return update.content.text


async def test_a_handler_finds_an_open_session_by_its_id() -> None:
    async with connected() as pair:
        async with open_session(pair.agent, cwd="/work") as session, open_session(pair.agent, cwd="/work") as other:
            assert find_session(pair.agent, session.id) is session
            assert find_session(pair.agent, other.id) is other
        assert find_session(pair.agent, session.id) is None


async def test_the_updates_of_a_turn_are_read_and_its_stop_reason_known() -> None:
    async with connected(says_three) as pair, open_session(pair.agent, cwd="/work") as session:
        async with session.prompt("hello") as turn:
            assert turn.stop_reason is None
            text = "".join([text_of(update) async for update in turn])
        assert text == "one two three"
        assert turn.stop_reason == "end_turn"
        assert session.state.text == "one two three"
        assert [message.role for message in session.state.messages] == ["user", "agent"]


async def test_what_an_agent_sends_while_it_creates_a_session_is_in_its_state() -> None:
    async with connected(says_three) as pair, open_session(pair.agent, cwd="/welcome") as session:
        await session.ask("hello")
        assert session.state.text == "Welcome. one two three"


async def test_a_call_made_while_reading_does_not_deadlock() -> None:
    async def act(turn: Turn) -> None:
        for number in range(50):
            await turn.say(str(number))
            await turn.plan()

    async with connected(act) as pair, open_session(pair.agent, cwd="/work") as session:
        async with session.prompt("hello") as turn:
            async for update in turn:
                if update.session_update == "plan":
                    await session.set_mode("code")
        assert turn.stop_reason == "end_turn"


async def test_leaving_the_block_early_cancels_the_turn_and_waits_for_its_end() -> None:
    ended: list[str] = []

    async def act(turn: Turn) -> None:
        await turn.say("begun")
        try:
            await asyncio.Event().wait()
        finally:
            await turn.say(" ended")
            ended.append("yes")

    async with connected(act, says_three) as pair, open_session(pair.agent, cwd="/work") as session:
        async with session.prompt("hello") as turn:
            async for _ in turn:
                break
        assert ended == ["yes"]
        assert turn.stop_reason == "cancelled"
        assert session.state.text == "begun ended"
        assert await session.ask("again") == "one two three"


async def test_two_turns_of_a_session_at_a_time_are_refused() -> None:
    async with (
        connected(says_three) as pair,
        open_session(pair.agent, cwd="/work") as session,
        session.prompt("hello") as turn,
    ):
        with pytest.raises(RuntimeError, match="has not ended"):
            async with session.prompt("again"):
                pass
        await turn.wait()


async def test_sessions_of_one_agent_get_their_own_updates() -> None:
    async with (
        connected(says("a"), says("b")) as pair,
        open_session(pair.agent, cwd="/work") as one,
        open_session(pair.agent, cwd="/work") as two,
    ):
        assert [await session.ask("hello") for session in (one, two)] == ["a", "b"]
        assert (one.state.text, two.state.text) == ("a", "b")


async def test_a_new_session_has_its_modes_and_options() -> None:
    async with connected() as pair, open_session(pair.agent, cwd="/work") as session:
        assert session.state.current_mode_id == "ask"
        assert [option.id for option in session.state.config_options] == ["mode", "model"]
        await session.set_mode("code")
        assert session.state.current_mode_id == "code"
        options = await session.set_config_option("mode", "ask")
        assert [option.current_value for option in options] == ["ask", "large"]
        assert [option.current_value for option in session.state.config_options] == ["ask", "large"]


async def test_a_loaded_session_has_its_history() -> None:
    async with connected() as pair, open_session(pair.agent, cwd="/work", load="old") as session:
        assert (session.id, session.state.text) == ("old", "Earlier. ")


async def test_a_resumed_session_has_its_id() -> None:
    async with connected(says_three) as pair, open_session(pair.agent, cwd="/work", resume="old") as session:
        assert (session.id, await session.ask("hello")) == ("old", "one two three")


async def test_a_session_that_can_not_be_loaded_is_not_open() -> None:
    async with connected() as pair:
        for _ in range(2):
            with pytest.raises(ResourceNotFound):
                async with open_session(pair.agent, cwd="/work", load="missing"):
                    pass


async def test_a_session_can_be_open_once() -> None:
    async with connected() as pair, open_session(pair.agent, cwd="/work", load="old"):
        with pytest.raises(ValueError, match="'old' is open already"):
            async with open_session(pair.agent, cwd="/work", resume="old"):
                pass
        with pytest.raises(ValueError, match="not both"):
            async with open_session(pair.agent, cwd="/work", load="a", resume="b"):
                pass


async def test_a_session_is_closed_at_the_end_of_the_block() -> None:
    async with connected() as pair:
        async with open_session(pair.agent, cwd="/work") as session:
            pass
        with pytest.raises(ZeroDivisionError):
            async with open_session(pair.agent, cwd="/work", load="old"):
                raise ZeroDivisionError
        assert pair.handler.closed == [session.id, "old"]


async def test_closing_a_session_cancels_its_turn_and_loses_no_update() -> None:
    begun, may_go_on = asyncio.Event(), asyncio.Event()

    async def act(turn: Turn) -> None:
        await turn.say("one ")
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await may_go_on.wait()
            await turn.say("two")

    async with connected(act) as pair:
        async with open_session(pair.agent, cwd="/work") as session:
            asking = asyncio.create_task(session.ask("hello"))
            await begun.wait()
        may_go_on.set()
        with pytest.raises(UnfinishedTurn) as unfinished:
            await asking
        assert (unfinished.value.stop_reason, unfinished.value.text) == ("cancelled", "one two")
        assert find_session(pair.agent, session.id) is None


async def test_updates_of_other_sessions_are_not_delivered() -> None:
    async with connected(says_three) as pair:
        created = await pair.agent.session_new(cwd="/work", mcp_servers=[])
        await pair.agent.session_prompt(session_id=created.session_id, prompt=[])
        assert set(pair.client.delivered) == {False}


async def test_an_empty_id_is_an_id() -> None:
    async with connected() as pair, open_session(pair.agent, cwd="/", load="") as session:
        assert find_session(pair.agent, "") is session
        assert session.state.text == "Earlier. "
        assert list(pair.handler.sessions) == [""]


async def test_a_new_session_with_the_id_of_an_open_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected(says_three) as pair, open_session(pair.agent, cwd="/") as session:

        async def session_new(_: v1.NewSessionRequest) -> v1.NewSessionResponse:
            return v1.NewSessionResponse(session_id=session.id)

        monkeypatch.setattr(pair.handler, "session_new", session_new)
        with pytest.raises(InvalidResponse, match="its session id belongs to a session that is open already"):
            async with open_session(pair.agent, cwd="/"):
                raise AssertionError
        assert find_session(pair.agent, session.id) is session
        assert await session.ask("go") == "one two three"
