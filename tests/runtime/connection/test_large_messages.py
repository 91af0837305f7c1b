"""Rule 18: a large message, in flight or waiting, does not block others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_bindings.v1 import PromptRequest, PromptResponse, SessionNotification
from tests.support.runtime.peer import LINKS, Link, PlainAgent, PlainClient, calling, line, prompt, serving, update

pytestmark = [pytest.mark.slow, pytest.mark.every_link]

MIB = 2**20


def large_prompt(id: Any, size: int, session: str = "s1") -> bytes:
    params = {"sessionId": session, "prompt": [{"type": "text", "text": "x" * size}]}
    return line({"id": id, "method": "session/prompt", "params": params})


def cancel(session: str = "s1") -> bytes:
    return line({"method": "session/cancel", "params": {"sessionId": session}})


class Endless(PlainAgent):
    """An agent whose prompts end only when they are cancelled."""

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("size", [16 * MIB, 30 * MIB])
async def test_rule_18_a_cancellation_acts_while_a_large_prompt_runs(size: int) -> None:
    async with serving(LINKS["memory"], Endless) as peer:
        await peer.send(large_prompt(1, size))
        assert (await peer.call("session/new", {"cwd": "/", "mcpServers": []}))["result"] == {"sessionId": "s1"}
        await peer.send(cancel())
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "cancelled"}}


@pytest.mark.slow
async def test_rule_18_a_cancelled_48_mb_prompt_is_answered_within_a_few_iterations_of_the_loop(link: Link) -> None:
    loop = asyncio.get_running_loop()
    iteration, seen = 0, dict[str, int]()

    def count() -> None:
        nonlocal iteration, counting
        iteration += 1
        counting = loop.call_soon(count)

    def note(direction: str, frame: bytes, time: float) -> None:
        if direction == "in" and frame == cancel().rstrip():
            seen["cancel"] = iteration
        elif b"cancelled" in frame:
            seen["answer"] = iteration

    counting = loop.call_soon(count)
    async with serving(link, Endless, on_frame=note) as peer:
        await peer.send(large_prompt(1, 48_000_000) + cancel())
        assert (await peer.receive())["result"] == {"stopReason": "cancelled"}
    counting.cancel()
    assert seen["answer"] - seen["cancel"] <= 3


async def test_rule_18_the_end_of_input_is_noticed_while_a_large_prompt_runs() -> None:
    async with serving(LINKS["memory"], Endless, eof_grace=0.01) as peer:
        await peer.send(large_prompt(1, 30 * MIB))
        await peer.end()
        assert [each["result"] for each in await peer.rest()] == [{"stopReason": "cancelled"}]


@pytest.mark.slow
async def test_rule_18_cancellations_act_with_more_than_4096_requests_in_flight() -> None:
    total = 5000
    async with serving(LINKS["memory"], Endless) as peer:
        await peer.send(b"".join(line(prompt(n, f"s{n}")) for n in range(total)))
        await peer.send(b"".join(cancel(f"s{n}") for n in reversed(range(total))))
        assert {(await peer.receive())["id"] for _ in range(total)} == set(range(total))


async def test_rule_18_a_large_request_in_flight_does_not_hold_back_updates(link: Link) -> None:
    class Writing(PlainClient):
        async def fs_write_text_file(self, request: Any, /) -> Any:
            await asyncio.Event().wait()

        async def session_update(self, notification: SessionNotification, /) -> None:
            handled.append(notification)
            if len(handled) == 1000:
                done.set()

    handled: list[SessionNotification] = []
    done = asyncio.Event()
    async with calling(link, Writing, eof_grace=0.01, guards="off") as (_, peer):
        params = {"sessionId": "s", "path": "/x", "content": "x" * 20 * MIB}
        await peer.send({"id": 1, "method": "fs/write_text_file", "params": params})
        await peer.send(b"".join(line(update("s", str(n))) for n in range(1000)))
        await done.wait()


async def test_rule_18_a_full_queue_that_awaits_the_peer_does_not_wait_for_other_sessions(
    link: Link,
) -> None:
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
            await peer.send({"id": (await peer.receive())["id"], "result": {}})
        await done.wait()
        release.set()


async def test_rule_18_a_request_starts_beyond_the_mark_if_all_handlers_await_the_peer(link: Link) -> None:
    class Asking(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            return None if method == "_inner" else await self.client.ext_request("_back")

    async with serving(link, Asking, high_water_messages=1) as peer:
        await peer.send({"id": 1, "method": "_outer"})
        back = await peer.receive()
        await peer.send({"id": 2, "method": "_inner"})
        assert (await peer.receive())["id"] == 2
        await peer.send({"id": back["id"], "result": "done"})
        assert (await peer.receive())["result"] == "done"
