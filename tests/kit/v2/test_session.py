"""The turns and states of a session of an agent of version 2, as a client sees them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from pydantic import ValidationError

from acp_bindings import v1, v2_draft, v2_draft_unstable
from acp_kit.v2 import Session
from acp_runtime import ConnectionClosed, RemoteError, RequestCancelled, ResourceNotFound
from tests.support.kit.behind_v2 import CANCEL, INITIALIZE, PROMPT, ask, names, request, until_idle
from tests.support.runtime.peer import LINKS, Peer, serving

Work = Callable[[Session], Awaitable[Any]]
PROFILES: dict[str, Any] = {"v2_draft": v2_draft, "v2_draft_unstable": v2_draft_unstable}
TURN = ["user_message", "running"]


def agent_of(work: Work, profile: Any = v2_draft) -> Any:
    """Return the class of an agent with one session, whose turns do this work."""

    class Agent(profile.Agent):  # type: ignore[misc]
        def __init__(self, client: Any) -> None:
            self.session = Session(client, "session-1", cwd="/work")

        async def initialize(self, request: Any) -> Any:
            info = profile.Implementation(name="agent", version="1")
            session = profile.SessionCapabilities()
            capabilities = profile.AgentCapabilities(session=session)
            return profile.InitializeResponse(protocol_version=2, info=info, capabilities=capabilities)

        async def session_new(self, request: Any) -> Any:
            return profile.NewSessionResponse(session_id=self.session.id)

        async def session_prompt(self, request: Any) -> Any:
            async def turn() -> Any:
                return await work(self.session)

            session: Any = self.session
            return session.prompt(request.prompt, turn())

        async def session_cancel(self, notification: Any) -> None:
            await self.session.cancel()

        async def session_close(self, request: Any) -> Any:
            await self.session.close()
            return profile.CloseSessionResponse()

        async def session_resume(self, request: Any) -> Any:
            await self.session.resume(replay=request.replay_from is not None)
            return profile.ResumeSessionResponse()

    return Agent


@asynccontextmanager
async def talking_to(work: Work, profile: Any = v2_draft) -> AsyncGenerator[Peer]:
    """Connect such an agent to a raw client that has created its session."""
    side = __import__(f"{profile.__name__}.connecting", fromlist=["AGENT_SIDE"]).AGENT_SIDE
    async with serving(LINKS["memory"], agent_of(work, profile), side=side, ready=False) as peer:
        await peer.call("initialize", INITIALIZE)
        await peer.call("session/new", {"cwd": "/work"})
        yield peer


async def turn(peer: Peer, id: int = 1) -> list[Any]:
    before, response = await ask(peer, id, "session/prompt", prompt=PROMPT)
    updates = [*before, *await until_idle(peer)]
    assert updates[0] == {
        "sessionUpdate": "user_message",
        "messageId": response["result"]["messageId"],
        "content": PROMPT,
    }
    return updates


async def nothing(_: Session) -> None:
    """Do nothing."""


async def forever(_: Session) -> None:
    await asyncio.Event().wait()


async def begin(peer: Peer) -> list[Any]:
    """Send a prompt. Return the updates until the work has begun."""
    updates, _ = await ask(peer, 1, "session/prompt", prompt=PROMPT)
    while names(updates) != TURN:
        updates.append((await peer.receive())["params"]["update"])
    return updates


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
async def test_a_turn_is_the_users_message_running_and_idle(profile: Any) -> None:
    async with talking_to(nothing, profile) as peer:
        for id in (1, 2):
            assert names(await turn(peer, id)) == [*TURN, "idle end_turn"]


async def test_a_turn_ends_with_the_state_that_the_work_returns() -> None:
    async def too_long(_: Session) -> Any:
        return v2_draft.SessionUpdateStateUpdateIdleMaxTokens()

    async with talking_to(too_long) as peer:
        assert names(await turn(peer)) == [*TURN, "idle max_tokens"]


@pytest.mark.parametrize(
    ("error", "described"),
    [
        (OSError("the model has gone"), {"code": -32603, "message": "The turn failed"}),
        (ResourceNotFound("There is no a"), {"code": -32002, "message": "There is no a"}),
        (RemoteError.of(-32002, "the error of a peer"), {"code": -32603, "message": "The turn failed"}),
        (ConnectionClosed("the connection of another agent"), {"code": -32603, "message": "The turn failed"}),
    ],
)
async def test_work_that_fails_is_logged_and_ends_the_turn_with_the_reason_error(
    error: Exception, described: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: Session) -> None:
        raise error

    async with talking_to(fail) as peer:
        updates = await turn(peer)
    assert names(updates) == [*TURN, "idle error"]
    assert updates[-1]["error"] == described
    assert str(error) in caplog.text


@pytest.mark.parametrize("returned", ["done", v2_draft.SessionUpdateStateUpdateRunning()], ids=["text", "running"])
async def test_work_that_returns_no_idle_state_has_failed(returned: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def work(_: Session) -> Any:
        return returned

    async with talking_to(work) as peer:
        assert names(await turn(peer)) == [*TURN, "idle error"]
    assert "must return an idle state or None" in caplog.text


async def test_an_update_of_another_profile_is_refused_and_not_kept() -> None:
    wrong: Any = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text="a"))

    async def work(session: Session) -> None:
        with pytest.raises(ValidationError, match=r"not acp_bindings\.v1"):
            await session.send(wrong)
        assert [update.session_update for update in session.updates] == ["user_message"]

    async with talking_to(work) as peer:
        assert names(await turn(peer)) == [*TURN, "idle end_turn"]


async def test_a_session_whose_client_has_left_is_idle_and_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    sessions: list[Session] = []

    async def work(session: Session) -> None:
        sessions.append(session)
        update = v2_draft.SessionUpdateAgentMessageChunk(message_id="m", content=v2_draft.ContentBlockText(text="a"))
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await session.send(update)

    async with talking_to(work) as peer:
        await begin(peer)
    assert [(session.is_busy, session.state.state) for session in sessions] == [(False, "idle")]
    assert "acp_kit" not in caplog.text


async def test_a_question_to_the_user_requires_action_until_all_are_answered() -> None:
    answered = asyncio.Event()

    async def ask_twice(session: Session) -> None:
        async def question() -> None:
            async with session.asking():
                await answered.wait()

        await asyncio.gather(question(), question())
        async with session.asking():
            pass

    async with talking_to(ask_twice) as peer:
        await begin(peer)
        assert (await peer.receive())["params"]["update"]["state"] == "requires_action"
        assert await peer.until_quiet() == []
        answered.set()
        assert names(await until_idle(peer)) == ["running", "requires_action", "running", "idle end_turn"]


async def test_cancel_during_a_question_reports_no_running_state() -> None:
    async def ask_user(session: Session) -> None:
        async with session.asking():
            await asyncio.Event().wait()

    async with talking_to(ask_user) as peer:
        await begin(peer)
        await peer.send(CANCEL)
        assert names(await until_idle(peer)) == ["requires_action", "idle cancelled"]


async def test_a_question_of_cancelled_work_is_cancelled_and_its_late_answer_ignored() -> None:
    async def ask_user(session: Session) -> None:
        options = [v2_draft.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
        async with session.asking():
            await session.client.session_request_permission(session_id=session.id, title="Delete a?", options=options)

    async with talking_to(ask_user) as peer:
        await begin(peer)
        assert (await peer.receive())["params"]["update"]["state"] == "requires_action"
        question = await peer.receive()
        await peer.send(CANCEL)
        received = [await peer.receive(), await peer.receive()]
        (cancelled,) = [message["params"] for message in received if message["method"] == "$/cancel_request"]
        assert cancelled == {"requestId": question["id"]}
        assert "idle cancelled" in names([message["params"].get("update", message) for message in received])
        await peer.send({"id": question["id"], "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}})
        assert await peer.until_quiet() == []


async def test_work_that_hides_its_cancellation_ends_cancelled_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    async def stubborn(_: Session) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return v2_draft.SessionUpdateStateUpdateIdleEndTurn()

    async def failing(_: Session) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("the model has gone")

    async def ending(_: Session) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise RequestCancelled from None

    for work in (stubborn, failing, ending):
        async with talking_to(work) as peer:
            await begin(peer)
            await peer.send(CANCEL, CANCEL)
            assert names(await until_idle(peer)) == ["idle cancelled"]
            assert await peer.until_quiet() == []
    (record,) = [record for record in caplog.records if record.name == "acp_kit.v2.session"]
    assert "the model has gone" in caplog.text
    assert record.getMessage() == "The turn of the session 'session-1' failed"


async def test_a_second_prompt_is_refused_and_the_turn_goes_on() -> None:
    async with talking_to(forever) as peer:
        await begin(peer)
        updates, response = await ask(peer, 2, "session/prompt", prompt=PROMPT)
        assert (updates, response["error"]["code"]) == ([], -32600)
        updates, _ = await ask(peer, 3, "session/close")
        assert names(updates) == ["idle cancelled"]


async def test_after_close_nothing_is_sent_until_the_session_is_resumed() -> None:
    sessions: list[Session] = []

    async def work(session: Session) -> None:
        sessions.append(session)
        await session.send(
            v2_draft.SessionUpdatePlanUpdate(plan=v2_draft.PlanUpdateContentItems(plan_id="1", entries=[]))
        )

    async with talking_to(work) as peer:
        await turn(peer)
        await ask(peer, 2, "session/close")
        await sessions[0].send(v2_draft.SessionUpdateSessionInfoUpdate(title="late"))
        assert await peer.until_quiet() == []
        _, refused = await ask(peer, 3, "session/prompt", prompt=PROMPT)
        assert refused["error"]["message"] == "The session is closed"
        updates, _ = await ask(peer, 4, "session/resume", cwd="/work", replayFrom={"type": "start"})
        assert names(updates) == ["user_message", "plan_update", "idle end_turn"]
        assert names(await turn(peer, 5)) == [*TURN, "plan_update", "idle end_turn"]


def chunk(text: str, message_id: str) -> Any:
    return v2_draft.SessionUpdateAgentMessageChunk(message_id=message_id, content=v2_draft.ContentBlockText(text=text))


async def test_chunks_of_a_text_are_kept_and_replayed_as_one() -> None:
    sessions: list[Session] = []

    async def work(session: Session) -> None:
        sessions.append(session)
        for update in (chunk("a", "1"), chunk("\ud83d", "1"), chunk("\ude00", "1"), chunk("b", "2")):
            await session.send(update)
        thought = v2_draft.SessionUpdateAgentThoughtChunk(message_id="2", content=v2_draft.ContentBlockText(text="c"))
        unknown = v2_draft.ContentBlockOther(type="_unknown", text="f")
        other = v2_draft.SessionUpdateAgentMessageChunk(message_id="2", content=unknown)
        for update in (thought, chunk("d", "2"), chunk("e", "2"), other):
            await session.send(update)

    async with talking_to(work) as peer:
        await turn(peer)
        assert len(sessions[0].updates) == 6
        updates, _ = await ask(peer, 2, "session/resume", cwd="/work", replayFrom={"type": "start"})
    texts = [(update["messageId"], update["content"]["text"]) for update in updates[1:-1]]
    assert texts == [("1", "a\U0001f600"), ("2", "b"), ("2", "c"), ("2", "de"), ("2", "f")]


async def test_what_is_sent_during_a_replay_follows_it() -> None:
    go_on = asyncio.Event()
    large = "x" * 100_000

    async def work(session: Session) -> None:
        for update in (chunk(large, "1"), chunk("a", "2"), chunk("b", "3")):
            await session.send(update)
        await go_on.wait()
        await session.send(chunk("c", "3"))

    async with talking_to(work) as peer:
        await begin(peer)
        for _ in range(3):
            await peer.receive()
        await peer.send(request(2, "session/resume", cwd="/work", replayFrom={"type": "start"}))
        for _ in range(20):
            await asyncio.sleep(0)
        go_on.set()  # the replay waits, because the client doesn't read
        for _ in range(20):
            await asyncio.sleep(0)
        received = [await peer.receive() for _ in range(8)]
    updates = [message["params"]["update"] for message in received if "method" in message]
    texts = [update["content"]["text"] for update in updates[1:] if "content" in update]
    assert texts == [large, "a", "b", "c"]


async def test_cancel_and_close_without_a_turn_do_nothing() -> None:
    async with talking_to(nothing) as peer:
        await peer.send(CANCEL)
        updates, response = await ask(peer, 2, "session/close")
        assert (updates, response["result"]) == ([], {})


async def test_close_right_after_the_prompt_reports_the_whole_turn() -> None:
    async with talking_to(forever) as peer:
        await peer.send(request(1, "session/prompt", prompt=PROMPT), request(2, "session/close"))
        messages = [await peer.receive()]
        while messages[-1].get("id") != 2:
            messages.append(await peer.receive())
    updates = [message["params"]["update"] for message in messages if "params" in message]
    assert names(updates) == [*TURN, "idle cancelled"]


def test_a_proxy_of_version_1_is_refused() -> None:
    with pytest.raises(TypeError, match="is for version 2, but"):
        Session(object.__new__(v1.RemoteClient), "session-1", cwd="/work")  # type: ignore[arg-type]
