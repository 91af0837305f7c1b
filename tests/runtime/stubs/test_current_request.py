"""`current_request` says which request the running code handles."""

from __future__ import annotations

import asyncio
from typing import Any

from acp_runtime import CurrentRequest, current_request
from tests.support.runtime.peer import Link, PlainAgent, serving


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
