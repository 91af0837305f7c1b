"""Rule 18: a large message, in flight or waiting, does not block others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_bindings.v1 import PromptRequest, PromptResponse, SessionNotification
from tests.support.runtime.peer import LINKS, Link, PlainAgent, PlainClient, calling, line, prompt, serving, update

pytestmark = pytest.mark.every_link

# A message is large if it is above the mark.
MARK = 100_000
LARGE = "x" * 4 * MARK


def large_prompt(id: Any) -> bytes:
    return line({"id": id, "method": "session/prompt", "params": {"sessionId": "s1", "prompt": [TEXT]}})


TEXT = {"type": "text", "text": LARGE}
CANCEL = line({"method": "session/cancel", "params": {"sessionId": "s1"}})
CANCELLED = {"stopReason": "cancelled"}


class Endless(PlainAgent):
    """An agent whose prompts end only when they are cancelled."""

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        await asyncio.Event().wait()
        raise AssertionError


async def test_rule_18_a_cancelled_large_prompt_is_answered_soon(link: Link) -> None:
    loop = asyncio.get_running_loop()
    iteration, seen = 0, dict[str, int]()

    def count() -> None:
        nonlocal iteration, counting
        iteration += 1
        counting = loop.call_soon(count)

    def note(direction: str, frame: bytes, time: float) -> None:
        if direction == "in" and frame == CANCEL.rstrip():
            seen["cancel"] = iteration
        elif b"cancelled" in frame:
            seen["answer"] = iteration

    counting = loop.call_soon(count)
    async with serving(link, Endless, on_frame=note, high_water_bytes=MARK) as peer:
        await peer.send(large_prompt(1) + CANCEL)
        assert (await peer.receive())["result"] == CANCELLED
    counting.cancel()
    assert seen["answer"] - seen["cancel"] <= 3


async def test_rule_18_the_end_of_input_is_noticed_while_a_large_prompt_runs() -> None:
    async with serving(LINKS["memory"], Endless, eof_grace=0.01, high_water_bytes=MARK) as peer:
        await peer.send(large_prompt(1))
        await peer.end()
        assert [answer["result"] for answer in await peer.rest()] == [CANCELLED]


async def test_rule_18_cancellations_act_with_more_requests_in_flight_than_the_mark(link: Link) -> None:
    total = 50
    async with serving(link, Endless, high_water_messages=10) as peer:
        await peer.send(*(prompt(n, f"s{n}") for n in range(total)))
        for n in reversed(range(total)):
            await peer.send({"method": "session/cancel", "params": {"sessionId": f"s{n}"}})
        assert {(await peer.receive())["id"] for _ in range(total)} == set(range(total))


async def test_rule_18_a_large_request_in_flight_does_not_hold_back_updates(link: Link) -> None:
    class Writing(PlainClient):
        async def fs_write_text_file(self, request: Any, /) -> Any:
            await asyncio.Event().wait()

        async def session_update(self, notification: SessionNotification, /) -> None:
            handled.append(notification)
            if len(handled) == 100:
                done.set()

    handled: list[SessionNotification] = []
    done = asyncio.Event()
    async with calling(link, Writing, eof_grace=0.01, guards="off", high_water_bytes=MARK) as (_, peer):
        params = {"sessionId": "s", "path": "/x", "content": LARGE}
        await peer.send({"id": 1, "method": "fs/write_text_file", "params": params})
        await peer.send(b"".join(line(update("s", str(n))) for n in range(100)))
        await done.wait()


async def test_rule_18_a_full_session_that_awaits_the_peer_blocks_no_other(link: Link) -> None:
    class Asking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            if notification.session_id == "stuck":
                await release.wait()
                return
            await self.agent.session_set_mode(session_id="s", mode_id="m")
            handled.append(notification)
            if len(handled) == 20:
                done.set()

    handled: list[SessionNotification] = []
    done, release = asyncio.Event(), asyncio.Event()
    async with calling(link, Asking, high_water_messages=4) as (_, peer):
        await peer.send(update("stuck", "1"), *(update("s", str(n)) for n in range(20)))
        for _ in range(20):
            await peer.answer(result={})
        await done.wait()
        release.set()
