"""Rule 15: what asks the user is handled after the notifications of its session that were received before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from acp_bindings.v1 import (
    CreateElicitationRequest,
    CreateElicitationResponse,
    CreateElicitationResponseDecline,
    ReadTextFileRequest,
    ReadTextFileResponse,
    RemoteAgent,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
)
from acp_runtime import ConnectionClosed
from tests.runtime.connection.v2_peer import ClientV2, calling_v2, permission as permission_v2
from tests.support.runtime.peer import Link, Peer, PlainClient, calling, text_of, update

OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
FORM = {"mode": "form", "message": "Which?", "requestedSchema": {"type": "object", "properties": {}}}
CAPABILITIES: dict[str, Any] = {"fs": {"readTextFile": True}, "elicitation": {"form": {}}}


def permission(session: str = "s1") -> dict[str, Any]:
    params = {"sessionId": session, "toolCall": {"toolCallId": "c"}, "options": OPTIONS}
    return {"id": "q", "method": "session/request_permission", "params": params}


def elicitation(id: Any, **scope: Any) -> dict[str, Any]:
    return {"id": id, "method": "elicitation/create", "params": FORM | scope}


def read(id: Any) -> dict[str, Any]:
    return {"id": id, "method": "fs/read_text_file", "params": {"sessionId": "s1", "path": "/a"}}


class Slow(PlainClient):
    """A client that handles a notification only when the gate is open.

    Attributes:
        log: the texts of the updates that were handled, and the requests that were started.
    """

    def __init__(self, agent: RemoteAgent) -> None:
        super().__init__(agent)
        self.gate = asyncio.Event()
        self.log: list[str] = []

    async def session_update(self, notification: SessionNotification, /) -> None:
        await self.gate.wait()
        self.log.append(text_of(notification))

    async def ext_notification(self, method: str, params: Any) -> None:
        await self.gate.wait()

    async def session_request_permission(self, request: RequestPermissionRequest, /) -> RequestPermissionResponse:
        self.log.append("question")
        return await super().session_request_permission(request)

    async def elicitation_create(self, request: CreateElicitationRequest, /) -> CreateElicitationResponse:
        self.log.append("question")
        return CreateElicitationResponseDecline()

    async def fs_read_text_file(self, request: ReadTextFileRequest, /) -> ReadTextFileResponse:
        self.log.append("read")
        return ReadTextFileResponse(content="")


@asynccontextmanager
async def connected(link: Link, factory: type[Slow], **options: Any) -> AsyncIterator[tuple[Slow, Peer]]:
    """Connect a client with a raw agent."""
    async with calling(link, factory, **options) as (agent, peer):
        client: Any = agent.handler
        yield client, peer


@pytest.mark.parametrize("question", [permission(), elicitation("q", sessionId="s1")], ids=lambda q: q["method"])
async def test_rule_15_a_question_waits_for_the_updates_before_it(link: Link, question: dict[str, Any]) -> None:
    async with connected(link, Slow) as (client, peer):
        await peer.send(update("s1", "1"), update("s1", "2"), question, update("s1", "3"))
        assert await peer.until_quiet() == []
        client.gate.set()
        assert (await peer.receive())["id"] == "q"
        await client.agent.wait_handled("s1")
        assert client.log.index("question") >= 2


async def test_rule_15_a_question_of_version_2_waits_for_the_updates_before_it(link: Link) -> None:
    gate = asyncio.Event()

    class SlowV2(ClientV2):
        async def session_update(self, notification: Any, /) -> None:
            await gate.wait()
            await super().session_update(notification)

        async def session_request_permission(self, request: Any, /) -> Any:
            assert len(self.updates) == 1
            return await super().session_request_permission(request)

    async with calling_v2(link, SlowV2) as (_, peer):
        message = update("s1", "1")
        message["params"]["update"]["messageId"] = "m"
        await peer.send(message, permission_v2("q"))
        assert await peer.until_quiet() == []
        gate.set()
        assert (await peer.receive())["result"]["outcome"]["outcome"] == "selected"


@pytest.mark.parametrize(
    "request_",
    [read("q"), permission("s2"), elicitation("q", requestId=7)],
    ids=["no question", "another session", "no session"],
)
async def test_rule_15_other_requests_start_at_once(link: Link, request_: dict[str, Any]) -> None:
    async with connected(link, Slow, handler_deadline=600) as (client, peer):
        await peer.send(update("s1", "1"), {"method": "_note"}, request_)
        answer = await peer.receive()
        assert (answer["id"], "result" in answer) == ("q", True)
        client.gate.set()


async def test_rule_15_a_question_goes_on_if_a_handler_waits_for_it(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Waiting(Slow):
        async def session_request_permission(self, request: RequestPermissionRequest, /) -> RequestPermissionResponse:
            self.gate.set()
            return await super().session_request_permission(request)

    async with connected(link, Waiting, handler_deadline=0.05) as (client, peer):
        await peer.send(update("s1", "1"), permission())
        assert (await peer.receive())["id"] == "q"
        await client.agent.wait_handled("s1")
        assert client.log == ["question", "1"]
    assert "Handling session/request_permission before the notifications that came first" in caplog.text


async def test_rule_15_a_question_waits_as_long_as_handlers_end(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    class Slower(Slow):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await asyncio.sleep(0.05)
            self.log.append(text_of(notification))

    async with connected(link, Slower, handler_deadline=1) as (client, peer):
        await peer.send(*(update("s1", str(number)) for number in range(22)), permission())
        assert (await peer.receive())["id"] == "q"
        assert client.log == [*map(str, range(22)), "question"]
    assert "came first" not in caplog.text


async def test_rule_15_a_question_does_not_wait_for_held_updates(link: Link) -> None:
    async with connected(link, Slow) as (client, peer):
        client.gate.set()
        call = asyncio.create_task(client.agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        await peer.send(update("s1", "1"), permission())
        assert (await peer.receive())["id"] == "q"
        assert client.log == ["question"]
        await peer.send({"id": id, "result": {"sessionId": "s1"}})
        await call


async def test_rule_21_a_question_that_waits_is_answered_when_its_turn_is_cancelled(link: Link) -> None:
    async with connected(link, Slow) as (client, peer):
        call = asyncio.create_task(client.agent.session_prompt(session_id="s1", prompt=[]))
        id = (await peer.receive())["id"]
        await peer.send(update("s1", "1"), permission())
        assert await peer.until_quiet() == []
        await client.agent.session_cancel(session_id="s1")
        assert (await peer.receive())["method"] == "session/cancel"
        assert (await peer.receive())["result"] == {"outcome": {"outcome": "cancelled"}}
        client.gate.set()
        await peer.send({"id": id, "result": {"stopReason": "cancelled"}})
        await call
        assert client.log == ["1"]


async def test_rule_20_a_question_that_waits_can_be_cancelled_by_its_id(link: Link) -> None:
    async with connected(link, Slow) as (client, peer):
        cancellation = {"method": "$/cancel_request", "params": {"requestId": "q"}}
        await peer.send(update("s1", "1"), permission(), cancellation)
        assert (await peer.receive())["error"]["code"] == -32800
        client.gate.set()
    assert client.log == ["1"]


async def test_rule_22_a_question_that_waits_does_not_start_when_the_connection_ends(link: Link) -> None:
    async with connected(link, Slow, eof_grace=0, handler_deadline=0.5) as (client, peer):
        await peer.send(update("s1", "1"), permission())
        assert await peer.until_quiet() == []
    assert client.log == []


async def test_rule_16_a_handler_can_wait_for_the_updates_before_its_request(link: Link) -> None:
    class Reading(Slow):
        async def fs_read_text_file(self, request: ReadTextFileRequest, /) -> ReadTextFileResponse:
            await self.agent.wait_handled(request.session_id)
            return await super().fs_read_text_file(request)

    async with connected(link, Reading) as (client, peer):
        await peer.send(update("s1", "1"), update("s1", "2"), read("q"))
        assert await peer.until_quiet() == []
        client.gate.set()
        assert (await peer.receive())["id"] == "q"
        assert client.log == ["1", "2", "read"]
        await client.agent.wait_handled("s1")
        await client.agent.wait_handled("unknown")


async def test_rule_16_the_handler_of_a_notification_does_not_wait_for_the_others(link: Link) -> None:
    class Waiting(Slow):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await self.agent.wait_handled(notification.session_id)
            self.log.append(text_of(notification))

    async with connected(link, Waiting) as (client, peer):
        await peer.send(update("s1", "1"), update("s1", "2"), permission())
        assert (await peer.receive())["id"] == "q"
        assert client.log == ["1", "2", "question"]


async def test_rule_22_a_wait_for_updates_that_are_discarded_raises(link: Link) -> None:
    async with connected(link, Slow, handler_deadline=0.05) as (client, peer):
        await peer.send(update("s1", "1"), update("s1", "2"))
        assert await peer.until_quiet() == []
        waiting = asyncio.create_task(client.agent.wait_handled("s1"))
    with pytest.raises(ConnectionClosed):
        await waiting


async def test_rule_16_a_task_that_a_notification_handler_left_behind_waits_like_any_other(link: Link) -> None:
    class Leaving(Slow):
        async def session_update(self, notification: SessionNotification, /) -> None:
            if text_of(notification) == "1":
                tasks.append(asyncio.create_task(self.wait()))
                tasks.append(asyncio.create_task(self.prompt()))
            else:
                await super().session_update(notification)

        async def wait(self) -> None:
            await self.agent.session_set_mode(session_id="s2", mode_id="m")
            await self.agent.wait_handled("s1")
            self.log.append("waited")

        async def prompt(self) -> None:
            await self.agent.session_prompt(session_id="s1", prompt=[])
            self.log.append("prompted")

    tasks: list[asyncio.Task[None]] = []
    async with connected(link, Leaving) as (client, peer):
        await peer.send(update("s1", "1"))
        sent = {message["method"]: message["id"] for message in [await peer.receive(), await peer.receive()]}
        await peer.send(update("s1", "2"))
        await peer.send({"id": sent["session/set_mode"], "result": {}})
        await peer.send({"id": sent["session/prompt"], "result": {"stopReason": "end_turn"}})
        assert await peer.until_quiet() == []
        assert client.log == []
        client.gate.set()
        await asyncio.gather(*tasks)
        assert client.log[0] == "2"


async def test_rule_16_waiting_for_the_updates_of_a_session_releases_held_ones(link: Link) -> None:
    async with connected(link, Slow) as (client, peer):
        client.gate.set()
        creating = asyncio.ensure_future(client.agent.session_new(cwd="/", mcp_servers=[]))
        creation = (await peer.receive())["id"]
        await peer.send(update("s1", "1"))
        assert await peer.until_quiet() == []
        assert client.log == []
        waiting = asyncio.create_task(client.agent.wait_handled("s1"))
        assert await peer.until_quiet() == []
        assert client.log == ["1"]
        await waiting
        await peer.send({"id": creation, "result": {"sessionId": "new"}})
        await creating


async def test_rule_16_a_cancelled_wait_for_updates_disturbs_nothing(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(link, Slow) as (client, peer):
        await peer.send(update("s1", "1"))
        assert await peer.until_quiet() == []
        waiting = asyncio.create_task(client.agent.wait_handled("s1"))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await peer.send(update("s1", "2"))
        assert await peer.until_quiet() == []
        client.gate.set()
        await client.agent.wait_handled("s1")
        assert client.log == ["1", "2"]
    assert caplog.records == []


async def test_rule_16_another_event_loop_can_not_wait_for_updates(link: Link) -> None:
    async with connected(link, Slow) as (client, peer):
        with pytest.raises(RuntimeError, match="another event loop"):
            await asyncio.to_thread(asyncio.run, client.agent.wait_handled("s1"))
        assert await peer.until_quiet() == []
