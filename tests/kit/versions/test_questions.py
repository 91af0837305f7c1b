"""What an agent of version 1 asks, as a client of version 2 sees it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

import pytest

from acp_bindings import v1
from acp_runtime import InvalidParams, RemoteError, current_request
from tests.support.event_loop import let_others_run
from tests.support.kit.behind_v2 import (
    CANCEL,
    OPTIONS,
    PROMPT,
    AgentV1,
    connected,
    names,
    request,
    session_of,
    turn,
    until_idle,
)
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import Peer, chunk

YES = [v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]


class Asking(AgentV1):
    """An agent that asks for a permission in its turns.

    Attributes:
        outcomes: what it was answered.
    """

    options: Sequence[v1.PermissionOption] = YES

    def __init__(self, client: v1.RemoteClient) -> None:
        super().__init__(client)
        self.outcomes: list[Any] = []

    async def work(self, session: str) -> None:
        call = v1.SessionUpdateToolCall(tool_call_id="1", title="Edit x", kind="edit")
        await self.send(session, chunk("hello"), call)
        await self.ask(session)
        await self.send(session, chunk("thanks"))

    async def ask(self, session: str) -> None:
        diff = v1.ToolCallContentDiff(path="/x", new_text="y")
        response = await self.client.session_request_permission(
            session_id=session,
            tool_call=v1.ToolCallUpdate(tool_call_id="1", content=[diff]),
            options=self.options,
        )
        self.outcomes.append(response.outcome.model_dump())

    async def ask_in_vain(self, session: str) -> None:
        """Ask what nobody answers before the connection ends."""
        with contextlib.suppress(RemoteError):
            await self.ask(session)


async def until_asked(peer: Peer) -> tuple[list[Any], Any]:
    """Send a prompt. Return the updates before the agent's request, and the request."""
    await peer.send(request(1, "session/prompt", prompt=PROMPT))
    updates: list[Any] = []
    while "id" not in (message := await peer.receive()) or "method" not in message:
        updates.extend([message["params"]["update"]] if "params" in message else [])
    return updates, message


BEFORE = ["user_message", "running", "agent_message_chunk", "tool_call_update", "requires_action"]


async def test_a_permission_has_the_calls_title_and_the_call_as_its_subject() -> None:
    factory = RecordingFactory(Asking)
    async with session_of(factory) as peer:
        updates, asked = await until_asked(peer)
        assert names(updates) == BEFORE
        call = asked["params"]["subject"].pop("toolCall")
        assert asked["params"] == {
            "sessionId": "session-1",
            "title": "Edit x",
            "subject": {"type": "tool_call"},
            "options": OPTIONS,
        }
        assert call["toolCallId"] == "1"
        assert call["content"][0]["changes"] == [{"operation": "add", "path": "/x", "fileType": "text"}]
        outcome = {"outcome": "selected", "optionId": "yes"}
        await peer.send({"id": asked["id"], "result": {"outcome": outcome}})
        assert names(await until_idle(peer)) == ["running", "agent_message_chunk", "idle end_turn"]
        assert factory.handler.outcomes == [outcome]


async def test_session_cancel_during_a_question_ends_in_cancelled_without_running_in_between() -> None:
    async with session_of(Asking) as peer:
        _, asked = await until_asked(peer)
        await peer.send(CANCEL, {"id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}}})
        updates = [update for update in await until_idle(peer) if "method" not in update]
        assert names(updates)[-1] == "idle cancelled"
        assert "running" not in names(updates)


@pytest.mark.parametrize(
    "outcome", [{"outcome": "_later", "optionId": "yes"}, {"outcome": "selected", "optionId": "other"}]
)
async def test_another_outcome_or_option_permits_nothing(outcome: Any, caplog: pytest.LogCaptureFixture) -> None:
    factory = RecordingFactory(Asking)
    async with session_of(factory) as peer:
        _, asked = await until_asked(peer)
        await peer.send({"id": asked["id"], "result": {"outcome": outcome}})
        await until_idle(peer)
    assert factory.handler.outcomes == [{"outcome": "cancelled"}]
    assert "It permits nothing" in caplog.text


async def test_two_questions_at_once_require_action_until_both_are_answered() -> None:
    class Twice(Asking):
        async def work(self, session: str) -> None:
            await asyncio.gather(self.ask(session), self.ask(session))

    async with session_of(Twice) as peer:
        updates, first = await until_asked(peer)
        assert names(updates) == ["user_message", "running", "requires_action"]
        second = await peer.receive()
        result = {"result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}
        await peer.send({"id": first["id"], **result})
        assert await peer.until_quiet() == []
        await peer.send({"id": second["id"], **result})
        assert names(await until_idle(peer)) == ["running", "idle end_turn"]


async def test_a_question_about_a_new_call_ends_the_message_before_it() -> None:
    class AsksFirst(Asking):
        async def work(self, session: str) -> None:
            await self.send(session, chunk("hello"))
            await self.ask(session)
            await self.send(session, chunk("thanks"))

    async with session_of(AsksFirst) as peer:
        updates, asked = await until_asked(peer)
        assert names(updates) == ["user_message", "running", "agent_message_chunk", "requires_action"]
        await peer.send({"id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}})
        ids = [update["messageId"] for update in [*updates, *await until_idle(peer)] if "messageId" in update]
        assert len(set(ids)) == 3


async def test_a_question_outside_of_the_turn_does_not_hide_that_the_turn_asks() -> None:
    class Background(Asking):
        async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
            response = await super().session_new(request)
            self.task = asyncio.create_task(self.ask_in_vain(response.session_id))
            return response

        async def work(self, session: str) -> None:
            await self.ask(session)

    async with connected(Background) as (peer, _):
        await peer.send({"id": 0, "method": "session/new", "params": {"cwd": "/work"}})
        background = [await peer.receive(), await peer.receive()]
        assert {message.get("method") for message in background} == {None, "session/request_permission"}
        updates, asked = await until_asked(peer)
        assert names(updates) == ["user_message", "running", "requires_action"]
        await peer.send({"id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}})
        assert names(await until_idle(peer)) == ["running", "idle end_turn"]


@pytest.mark.parametrize("iterations", range(8))
async def test_a_question_when_the_turn_ends_leaves_it_idle(iterations: int) -> None:
    class AsksLate(Asking):
        async def work(self, session: str) -> None:
            await self.send(session, chunk("hello"))
            self.task = asyncio.create_task(self.ask_later(session))

        async def ask_later(self, session: str) -> None:
            await let_others_run(iterations)
            await self.ask_in_vain(session)

    async with session_of(AsksLate) as peer:
        await peer.send(request(1, "session/prompt", prompt=PROMPT))
        messages = [await peer.receive()]
        while not any(message.get("method") == "session/request_permission" for message in messages):
            messages.append(await peer.receive())
        messages += await peer.until_quiet()
        states = [message["params"].get("update", {}).get("state") for message in messages if "params" in message]
        assert [state for state in states if state is not None][-1] == "idle"


async def test_after_closing_questions_do_not_reach_the_client() -> None:
    class Form(Asking):
        async def work(self, session: str) -> None:
            pass

        async def fill(self) -> Any:
            schema = v1.ElicitationSchema(properties={})
            create = self.client.elicitation_create
            return await create(mode="form", session_id="session-1", message="Name?", requested_schema=schema)

    factory = RecordingFactory(Form)
    async with session_of(factory, {"elicitation": {"form": {}}}) as peer:
        await peer.call("session/close", {"sessionId": "session-1"})
        await factory.handler.ask("session-1")
        assert factory.handler.outcomes == [{"outcome": "cancelled"}]
        assert (await factory.handler.fill()).action == "cancel"
        assert await peer.until_quiet() == []


async def test_a_permission_without_options_is_not_given() -> None:
    class NoOptions(Asking):
        options = ()

    factory = RecordingFactory(NoOptions)
    async with session_of(factory) as peer:
        await peer.send(request(1, "session/prompt", prompt=PROMPT))
        assert "requires_action" not in names([u for u in await until_idle(peer) if "result" not in u])
    assert factory.handler.outcomes == [{"outcome": "cancelled"}]


async def test_a_question_never_overtakes_the_updates_before_it() -> None:
    class Talkative(Asking):
        async def work(self, session: str) -> None:
            await self.send(session, *(chunk(str(number)) for number in range(3000)))
            await self.ask(session)

    async with session_of(Talkative) as peer:
        updates, _ = await until_asked(peer)
        texts = [update["content"]["text"] for update in updates if update["sessionUpdate"] == "agent_message_chunk"]
        assert texts == [str(number) for number in range(3000)]


async def test_a_form_of_the_session_requires_action() -> None:
    class Form(AgentV1):
        async def work(self, session: str) -> None:
            schema = v1.ElicitationSchema(properties={"name": v1.ElicitationPropertySchemaString()})
            answer = await self.client.elicitation_create(
                mode="form", session_id=session, message="Your name?", requested_schema=schema
            )
            await self.send(session, chunk(repr(answer.model_dump())))

    async with session_of(Form, {"elicitation": {"form": {}}}) as peer:
        updates, asked = await until_asked(peer)
        assert names(updates) == ["user_message", "running", "requires_action"]
        assert asked["params"]["requestedSchema"] == {"type": "object", "properties": {"name": {"type": "string"}}}
        answer = {"content": {"name": "Ada"}, "action": "accept"}
        await peer.send({"id": asked["id"], "result": answer})
        updates = await until_idle(peer)
        assert names(updates) == ["running", "agent_message_chunk", "idle end_turn"]
        assert updates[1]["content"]["text"] == repr(answer)


async def test_a_form_of_a_request_has_the_id_that_the_client_knows() -> None:
    class Login(AgentV1):
        async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
            current = current_request()
            assert current is not None
            schema = v1.ElicitationSchema(properties={})
            await self.client.elicitation_create(
                mode="form", request_id=current.id, message="Your name?", requested_schema=schema
            )
            return await super().session_new(request)

        async def work(self, session: str) -> None:
            schema = v1.ElicitationSchema(properties={})
            with pytest.raises(InvalidParams):
                await self.client.elicitation_create(
                    mode="form", request_id=1, message="Your name?", requested_schema=schema
                )

    async with connected(Login, {"elicitation": {"form": {}}}) as (peer, _):
        await peer.send({"id": "new", "method": "session/new", "params": {"cwd": "/work"}})
        asked = await peer.receive()
        assert asked["params"]["requestId"] == "new"
        await peer.send({"id": asked["id"], "result": {"action": "decline"}})
        assert (await peer.receive())["result"]["sessionId"] == "session-1"
        assert names(await turn(peer)) == ["user_message", "running", "idle end_turn"]


async def test_a_page_and_its_end_are_passed_on() -> None:
    class Page(AgentV1):
        async def work(self, session: str) -> None:
            await self.client.elicitation_create(
                mode="url", session_id=session, message="Log in", elicitation_id="e", url="https://example.com"
            )
            await self.client.elicitation_complete(elicitation_id="e")

    async with session_of(Page, {"elicitation": {"url": {}}}) as peer:
        _, asked = await until_asked(peer)
        assert (asked["params"]["url"], asked["params"]["elicitationId"]) == ("https://example.com", "e")
        await peer.send({"id": asked["id"], "result": {"action": "accept"}})
        methods: list[str] = []
        while "elicitation/complete" not in methods:
            methods.append((await peer.receive())["method"])
