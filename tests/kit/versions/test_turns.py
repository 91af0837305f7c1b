"""Turns of an agent of version 1 as a client of version 2 sees them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from acp_bindings import v1, v2_draft as v2
from acp_bindings.v2_draft.connecting import AGENT_SIDE
from acp_kit.versions import as_v2
from acp_runtime import AuthenticationRequired, RequestCancelled, RequestError
from tests.support.event_loop import let_others_run
from tests.support.kit.behind_v2 import (
    CANCEL,
    INITIALIZE,
    PROMPT,
    AgentV1,
    ask,
    names,
    notification,
    request,
    session_of,
    turn,
    until_idle,
    update_of,
    without_guards,
)
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import LINKS, Peer, calling, chunk, serving, update


class Waiting(AgentV1):
    """An agent whose turns don't end by themselves."""

    async def work(self, session: str) -> None:
        await self.send(session, chunk("let me think"))
        await asyncio.Event().wait()


TURN = ["user_message", "running", "agent_message_chunk"]


async def test_a_turn_is_the_users_message_then_running_output_and_idle() -> None:
    async with session_of(AgentV1) as peer:
        updates = await turn(peer)
        assert names(updates) == [*TURN, "idle end_turn"]
        assert updates[0]["content"] == PROMPT
        assert updates[2]["content"] == {"type": "text", "text": "hello"}
        assert await peer.until_quiet() == []


async def test_messages_have_ids_of_their_own() -> None:
    async with session_of(AgentV1) as peer:
        updates = [*await turn(peer, 1), *await turn(peer, 2)]
    ids = [update["messageId"] for update in updates if "messageId" in update]
    assert len(ids) == len(set(ids)) == 4


async def test_a_turn_without_output_is_complete() -> None:
    class Silent(AgentV1):
        async def work(self, session: str) -> None:
            pass

    async with session_of(Silent) as peer:
        assert names(await turn(peer)) == ["user_message", "running", "idle end_turn"]


async def test_a_prompt_is_accepted_without_any_output_after_a_short_time() -> None:
    class Slow(AgentV1):
        async def work(self, session: str) -> None:
            await asyncio.Event().wait()

    async with session_of(Slow) as peer:
        updates, response = await ask(peer, 1, "session/prompt", prompt=PROMPT)
        assert names(updates) == ["user_message", "running"]
        assert response["result"]["messageId"] == updates[0]["messageId"]


async def test_an_error_before_any_output_refuses_the_prompt() -> None:
    class LoggedOut(AgentV1):
        async def work(self, session: str) -> None:
            raise AuthenticationRequired(data={"why": "no key"})

    async with session_of(LoggedOut) as peer:
        updates, response = await ask(peer, 1, "session/prompt", prompt=PROMPT)
        assert (updates, response["error"]["code"], response["error"]["data"]) == ([], -32000, {"why": "no key"})
        assert await peer.until_quiet() == []


async def test_an_error_after_output_is_the_reason_of_idle() -> None:
    class Failing(AgentV1):
        async def work(self, session: str) -> None:
            await self.send(session, chunk("well"))
            raise RequestError(-32050, "The model has gone", {"retry": 5})

    async with session_of(Failing) as peer:
        updates = await turn(peer)
        assert names(updates) == [*TURN, "idle error"]
        assert updates[-1]["error"] == {"code": -32050, "message": "The model has gone", "data": {"retry": 5}}
        assert names(await turn(peer, 2)) == [*TURN, "idle error"]


async def test_session_cancel_ends_the_turn_in_idle_cancelled() -> None:
    async with session_of(Waiting) as peer:
        for id in (1, 2):
            updates, _ = await ask(peer, id, "session/prompt", prompt=PROMPT)
            if len(updates) == 2:
                updates.append(await update_of(peer))
            await peer.send(CANCEL, CANCEL)
            assert names([*updates, *await until_idle(peer)]) == [*TURN, "idle cancelled"]
        await peer.send(CANCEL)
        assert await peer.until_quiet() == []


async def test_an_agent_that_fails_when_it_is_cancelled_still_ends_as_cancelled() -> None:
    class Failing(AgentV1):
        async def session_cancel(self, notification: v1.CancelNotification) -> None:
            self.stopped.set()

        async def work(self, session: str) -> None:
            self.stopped = asyncio.Event()
            await self.send(session, chunk("let me think"))
            await self.stopped.wait()
            raise RequestError(-32603, "aborted")

    async with session_of(Failing) as peer:
        await peer.send(request(1, "session/prompt", prompt=PROMPT))
        assert names([await update_of(peer), await update_of(peer)]) == TURN[:2]
        await peer.receive()
        await update_of(peer)
        await peer.send(CANCEL)
        assert names(await until_idle(peer)) == ["idle cancelled"]


async def test_a_prompt_cancelled_before_it_is_accepted_leaves_no_message() -> None:
    class Slow(AgentV1):
        async def work(self, session: str) -> None:
            await asyncio.Event().wait()

    cancel = {"method": "$/cancel_request", "params": {"requestId": 1}}
    async with session_of(Slow) as peer:
        await peer.send(request(1, "session/prompt", prompt=PROMPT))
        assert await peer.until_quiet() == []
        await peer.send(cancel)
        answer = await peer.receive()
        assert (answer["id"], answer["error"]["code"]) == (1, -32800)
        assert await peer.until_quiet() == []


async def test_an_accepted_prompt_is_not_cancelled_by_its_id() -> None:
    cancel = {"method": "$/cancel_request", "params": {"requestId": 1}}
    async with session_of(Waiting) as peer:
        await ask(peer, 1, "session/prompt", prompt=PROMPT)
        assert names([await update_of(peer)]) == TURN[2:]
        await peer.send(cancel)
        assert await peer.until_quiet() == []
        await peer.send(CANCEL)
        assert names(await until_idle(peer)) == ["idle cancelled"]


async def test_a_prompt_during_a_turn_waits_for_its_end() -> None:
    class Twice(AgentV1):
        async def work(self, session: str) -> None:
            await self.send(session, chunk(self.prompts[-1]))
            await asyncio.sleep(0)
            await self.send(session, chunk(self.prompts[-1]))

    def prompt(id: int, text: str) -> Any:
        return request(id, "session/prompt", prompt=[{"type": "text", "text": text}])

    async with session_of(Twice) as peer:
        await peer.send(prompt(1, "one"), prompt(2, "two"), prompt(3, "three"))
        messages: list[Any] = []
        while sum(message.get("params", {}).get("update", {}).get("state") == "idle" for message in messages) < 3:
            messages.append(await peer.receive())
    updates = [message["params"]["update"] for message in messages if "method" in message]
    assert names(updates) == ["user_message", "running", *2 * ["agent_message_chunk"], "idle end_turn"] * 3
    shown = [update["content"][0]["text"] for update in updates if update["sessionUpdate"] == "user_message"]
    assert shown == ["one", "two", "three"]
    assert [message["id"] for message in messages if "id" in message] == [1, 2, 3]


async def test_session_cancel_refuses_the_prompts_that_wait() -> None:
    async with session_of(Waiting) as peer:
        await ask(peer, 1, "session/prompt", prompt=PROMPT)
        await update_of(peer)
        await peer.send(request(2, "session/prompt", prompt=PROMPT))
        assert await peer.until_quiet() == []
        await peer.send(CANCEL)
        messages = [await peer.receive(), await peer.receive()]
        (refused,) = [message for message in messages if "id" in message]
        assert (refused["id"], refused["error"]["code"]) == (2, -32800)
        (idle,) = [message for message in messages if "id" not in message]
        assert names([idle["params"]["update"]]) == ["idle cancelled"]
        assert await peer.until_quiet() == []


async def test_a_waiting_prompt_that_is_cancelled_by_its_id_leaves_the_others() -> None:
    async with session_of(Waiting) as peer:
        await ask(peer, 1, "session/prompt", prompt=PROMPT)
        await update_of(peer)
        await peer.send(request(2, "session/prompt", prompt=PROMPT), request(3, "session/prompt", prompt=PROMPT))
        await peer.until_quiet()
        await peer.send({"method": "$/cancel_request", "params": {"requestId": 2}})
        answer = await peer.receive()
        assert (answer["id"], answer["error"]["code"]) == (2, -32800)
        await peer.send(CANCEL)
        messages = [await peer.receive(), await peer.receive()]
        assert {message.get("id") for message in messages} == {None, 3}


async def test_an_echo_of_the_prompt_is_not_shown_twice() -> None:
    class Echoing(AgentV1):
        async def work(self, session: str) -> None:
            echo = v1.SessionUpdateUserMessageChunk(content=v1.ContentBlockText(text="hi"))
            other = v1.SessionUpdateUserMessageChunk(content=v1.ContentBlockText(text="from elsewhere"))
            await self.send(session, echo, chunk("hello"), echo, other)

    async with session_of(Echoing) as peer:
        updates = await turn(peer)
        assert names(updates) == [*TURN, "user_message_chunk", "user_message_chunk", "idle end_turn"]


async def test_updates_outside_of_a_turn_change_no_state() -> None:
    class Background(AgentV1):
        async def work(self, session: str) -> None:
            pass

    factory = RecordingFactory(Background)
    async with session_of(factory) as peer:
        assert names(await turn(peer)) == ["user_message", "running", "idle end_turn"]
        await factory.handler.send("session-1", chunk("by the way"))
        assert names([await update_of(peer)]) == ["agent_message_chunk"]
        assert await peer.until_quiet() == []


async def test_a_client_that_leaves_during_a_turn_leaves_no_error(caplog: pytest.LogCaptureFixture) -> None:
    async with session_of(Waiting) as peer:
        await ask(peer, 1, "session/prompt", prompt=PROMPT)
        await update_of(peer)
        await peer.end()
        await peer.rest()
    async with asyncio.timeout(10):
        while len(tasks := asyncio.all_tasks()) > 1:
            await asyncio.wait(tasks - {asyncio.current_task()}, timeout=1)
    assert "Traceback" not in caplog.text
    assert "never retrieved" not in caplog.text


async def test_a_cancel_of_an_unknown_session_is_ignored() -> None:
    async with session_of(AgentV1) as peer:
        await peer.send(notification("session/cancel", sessionId="other"))
        assert await peer.until_quiet() == []


def raw_agent(*prompt: dict[str, Any], **end: Any) -> Any:
    """Return a function that connects to an agent in raw JSON, which sends some messages and a response in its turn."""

    @asynccontextmanager
    async def open(make_client: Any) -> AsyncGenerator[Any]:
        async with calling(LINKS["memory"], make_client, ready=False) as (agent, peer):
            answering = asyncio.create_task(answer(peer))
            yield agent
            await answering

    async def answer(peer: Peer) -> None:
        for answer in ({"result": {"protocolVersion": 1}}, {"result": {"sessionId": "session-1"}}, end):
            message = await peer.receive()
            if message["method"] == "session/prompt":
                await peer.send(*prompt)
            await peer.send({"id": message["id"], **answer})

    return open


def session_of_raw(*prompt: dict[str, Any], **end: Any) -> AbstractAsyncContextManager[Peer]:
    """Connect such an agent to a raw client of version 2 that has created `session-1`."""
    return session_of(open=raw_agent(*prompt, **end))


async def test_an_invalid_response_ends_the_turn_in_an_error() -> None:
    async with session_of_raw(update("session-1", "hello"), result={"stopReason": 5}) as peer:
        updates = await turn(peer)
        assert (names(updates), updates[-1]["error"]["code"]) == ([*TURN, "idle error"], -32603)
        assert "The response to session/prompt is invalid" in updates[-1]["error"]["message"]


async def test_an_agent_that_calls_a_cancelled_turn_complete_has_been_cancelled() -> None:
    class Stubborn(AgentV1):
        async def session_cancel(self, notification: v1.CancelNotification) -> None:
            self.cancelled.set()

        async def work(self, session: str) -> None:
            self.cancelled = asyncio.Event()
            await self.send(session, chunk("let me think"))
            await self.cancelled.wait()

        async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
            response = await super().session_prompt(request)
            return response.model_copy(update={"meta": {"a": 1}})

    async with session_of(open=without_guards(Stubborn)) as peer:
        await ask(peer, 1, "session/prompt", prompt=PROMPT)
        await update_of(peer)
        await peer.send(CANCEL)
        assert names(await until_idle(peer)) == ["idle cancelled"]


async def test_unknown_fields_of_the_agents_response_are_passed_on_and_name_no_state() -> None:
    result = {"stopReason": "end_turn", "state": "x", "sessionUpdate": "y", "usage": {"a": 1}, "_meta": {"b": 2}}
    async with session_of_raw(result=result) as peer:
        updates = await turn(peer)
        more = {"stopReason": "end_turn", "usage": {"a": 1}, "_meta": {"b": 2}}
        assert updates[-1] == {"sessionUpdate": "state_update", "state": "idle", **more}


@pytest.mark.parametrize("kind", ["usage_update", "available_commands_update", "session_info_update"])
async def test_settings_do_not_accept_a_prompt(kind: str) -> None:
    fields = {"usage_update": {"used": 1, "size": 2}, "available_commands_update": {"availableCommands": []}}
    setting = notification("session/update", update={"sessionUpdate": kind, **fields.get(kind, {"title": "A talk"})})
    error = {"code": -32000, "message": "Log in"}
    async with session_of_raw(setting, error=error) as peer:
        updates, response = await ask(peer, 1, "session/prompt", prompt=PROMPT)
        assert (names(updates), response["error"]) == ([kind], error)
        assert await peer.until_quiet() == []


async def test_an_echo_after_settings_is_not_shown() -> None:
    usage = {"sessionUpdate": "usage_update", "used": 1, "size": 2}
    echo = {"sessionUpdate": "user_message_chunk", "content": PROMPT[0]}
    messages = [notification("session/update", update=update) for update in (usage, echo, usage)]
    async with session_of_raw(*messages, result={"stopReason": "end_turn"}) as peer:
        assert "user_message_chunk" not in names(await turn(peer))


async def test_updates_of_kinds_that_version_1_does_not_have_are_passed_on() -> None:
    def of_kind(kind: str, **fields: Any) -> dict[str, Any]:
        return notification("session/update", update={"sessionUpdate": kind, **fields})

    updates = [of_kind("_own", a=1), of_kind("agent_message_chunk")]
    async with session_of_raw(*updates, result={"stopReason": "end_turn"}) as peer:
        shown = await turn(peer)
        assert names(shown) == ["user_message", "running", "_own", "idle end_turn"]
        assert shown[2] == {"sessionUpdate": "_own", "a": 1}


@pytest.mark.parametrize("iterations", [0, 5, 10, 20, 40])
async def test_a_cancel_while_the_next_turn_begins_is_never_lost(iterations: int) -> None:
    class TwoTurns(AgentV1):
        async def work(self, session: str) -> None:
            self.may_end = asyncio.Event()
            await self.send(session, chunk("let me think"))
            await self.may_end.wait()

    factory = RecordingFactory(TwoTurns)
    async with session_of(factory) as peer:
        await ask(peer, 1, "session/prompt", prompt=PROMPT)
        await update_of(peer)
        await peer.send(request(2, "session/prompt", prompt=PROMPT))
        await peer.until_quiet()
        factory.handler.may_end.set()
        await let_others_run(iterations)
        await peer.send(CANCEL)
        messages = [await peer.receive()]
        while messages[-1].get("id") != 2:
            messages.append(await peer.receive())
        if "result" in messages[-1]:
            assert names(await until_idle(peer))[-1] == "idle cancelled"
        else:
            assert messages[-1]["error"]["code"] == -32800


@pytest.mark.parametrize("iterations", range(5))
async def test_a_cancel_right_after_the_handler_of_a_prompt_began_is_never_lost(iterations: int) -> None:
    factory = RecordingFactory(as_v2(Waiting))
    async with serving(LINKS["memory"], factory, side=AGENT_SIDE, ready=False) as peer:
        await peer.call("initialize", INITIALIZE)
        await peer.call("session/new", {"cwd": "/work"})
        text = v2.ContentBlockText(text="hi")
        prompting = asyncio.create_task(
            factory.handler.session_prompt(v2.PromptRequest(session_id="session-1", prompt=[text]))
        )
        await let_others_run(1 + iterations)
        await factory.handler.session_cancel(v2.CancelSessionNotification(session_id="session-1"))
        await asyncio.wait({prompting})
        if prompting.exception() is None:
            assert names(await until_idle(peer))[-1] == "idle cancelled"
        else:
            assert isinstance(prompting.exception(), RequestCancelled)


async def test_content_that_version_1_does_not_have_is_refused() -> None:
    factory = RecordingFactory(AgentV1)
    async with session_of(factory) as peer:
        for block in ({"type": "_own"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}):
            updates, response = await ask(peer, 1, "session/prompt", prompt=[block])
            assert (updates, response["error"]["code"]) == ([], -32602)
        assert names(await turn(peer)) == [*TURN, "idle end_turn"]
    assert factory.handler.prompts == ["hi"]
