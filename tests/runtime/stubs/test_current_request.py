"""`current_request` says which request the running code handles, and `find_call` which call has an id."""

from __future__ import annotations

import asyncio
from typing import Any

from acp_runtime import CurrentRequest, current_request
from tests.support.runtime.peer import Link, PlainAgent, PlainClient, calling, serving, update


async def test_a_handler_and_the_tasks_that_it_starts_see_their_request_until_it_ends(link: Link) -> None:
    seen: list[CurrentRequest | None] = []
    later: list[asyncio.Task[None]] = []
    ended = asyncio.Event()

    async def look() -> None:
        seen.append(current_request())

    async def look_later() -> None:
        await ended.wait()
        await look()

    class Looking(PlainAgent):
        async def session_prompt(self, request: Any, /) -> Any:
            await look()
            await asyncio.create_task(look())
            later.append(asyncio.create_task(look_later()))
            return await super().session_prompt(request)

    async with serving(link, Looking) as peer:
        await peer.call("session/prompt", {"sessionId": "s", "prompt": []})
        ended.set()
        await later[0]
    first, second, third = seen
    assert first is second
    assert first is not None
    assert (first.wire, first.session, first.turn_cancelled) == ("session/prompt", "s", False)
    assert third is None
    assert current_request() is None


async def test_a_notification_is_no_request(link: Link) -> None:
    seen: list[CurrentRequest | None] = []

    class Looking(PlainAgent):
        async def ext_notification(self, method: str, params: Any) -> None:
            seen.append(current_request())

    async with serving(link, Looking) as peer:
        await peer.send({"method": "_acme/note"})
        await peer.until_quiet()
    assert seen == [None]


async def test_the_request_of_a_pending_call_is_found_by_the_calls_id(link: Link) -> None:
    async with calling(link) as (agent, behind):

        class Gateway(PlainAgent):
            async def session_prompt(self, request: Any, /) -> Any:
                return await agent.request(request)

        async with serving(link, Gateway) as front:
            await front.send({"id": "p", "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}})
            id = (await behind.receive())["id"]
            call = agent.find_call(id)
            assert call is not None
            assert (call.wire, call.params.session_id) == ("session/prompt", "s")
            assert call.request is not None
            assert call.request.id == "p"
            await behind.send({"id": id, "result": {"stopReason": "end_turn"}})
            assert (await front.receive())["id"] == "p"
            assert agent.find_call(id) is None
            assert agent.find_call(str(id)) is None


async def test_a_pending_call_outside_of_a_handler_has_no_request(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.ext_request("_a", {"b": 1}))
        id = (await peer.receive())["id"]
        assert agent.find_call(id) == ("_a", {"b": 1}, None)
        await peer.send({"id": id, "result": None})
        await call


async def test_a_pending_call_of_a_notification_or_of_an_ended_request_has_no_request(link: Link) -> None:
    class Calling(PlainClient):
        async def session_update(self, notification: Any, /) -> None:
            await self.agent.ext_request("_in_notification")

        async def session_request_permission(self, request: Any, /) -> Any:
            left.append(asyncio.create_task(self.agent.ext_request("_left_behind")))
            return await super().session_request_permission(request)

    left: list[asyncio.Task[Any]] = []
    async with calling(link, Calling) as (agent, peer):
        await peer.send(update("s", "x"))
        asked = await peer.receive()
        assert agent.find_call(asked["id"]) == ("_in_notification", None, None)
        await peer.send({"id": asked["id"], "result": None})
        params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": []}
        await peer.send({"id": "q", "method": "session/request_permission", "params": params})
        messages = [await peer.receive(), await peer.receive()]
        (asked,) = (message for message in messages if message["id"] != "q")
        assert agent.find_call(asked["id"]) == ("_left_behind", None, None)
        await peer.send({"id": asked["id"], "result": None})
        await asyncio.gather(*left)
