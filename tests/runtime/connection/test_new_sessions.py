"""Rule 16: updates of a new session are handled after its caller has the result, and do not block the response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from acp_bindings.v1 import ReleaseTerminalRequest, ReleaseTerminalResponse, RemoteAgent, SessionNotification
from acp_runtime.jsonrpc.framing import MODEL_BYTES
from tests.support.event_loop import let_others_run, wait_until
from tests.support.runtime.peer import Link, PlainClient, calling, line, text_of, update

LARGE = "x" * 1_000_000
SECONDS = 30.0


async def _plainly(call: Awaitable[Any]) -> Any:
    return await call


async def _wait_for(call: Awaitable[Any]) -> Any:
    return await asyncio.wait_for(call, SECONDS)


async def _nested_wait_for(call: Awaitable[Any]) -> Any:
    for _ in range(5):
        call = asyncio.wait_for(call, SECONDS)
    return await call


async def _timeout(call: Awaitable[Any]) -> Any:
    async with asyncio.timeout(SECONDS):
        return await call


async def _gather(call: Awaitable[Any]) -> Any:
    return (await asyncio.gather(asyncio.gather(call)))[0][0]


async def _task_group(call: Any) -> Any:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(call)
    return task.result()


WAYS = [_plainly, _wait_for, _nested_wait_for, _timeout, _gather, _task_group]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", ["in one write", "in a later iteration", "before"])
async def test_rule_16_updates_of_a_new_session_come_after_its_callers_result(
    link: Link, way: Callable[[Any], Awaitable[Any]], how: str
) -> None:
    class Recording(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            seen.append(text_of(notification))
            if len(seen) == 4:
                all_seen.set()

    async def create(agent: RemoteAgent) -> None:
        seen.append((await way(agent.session_new(cwd="/", mcp_servers=[]))).session_id)

    seen: list[str] = []
    all_seen = asyncio.Event()
    async with calling(link, Recording) as (agent, peer):
        task = asyncio.create_task(create(agent))
        id = (await peer.receive())["id"]
        answer = line({"id": id, "result": {"sessionId": "new"}})
        updates = b"".join(line(update("new", str(n))) for n in range(3))
        if how == "in one write":
            await peer.send(answer + updates)
        elif how == "before":
            await peer.send(updates + answer)
        else:
            await peer.send(answer)
            await let_others_run(2)
            await peer.send(updates)
        await task
        await all_seen.wait()
        assert seen == ["new", "0", "1", "2"]


@pytest.mark.parametrize(
    ("texts", "limits"),
    [([LARGE] * 40, {}), ([str(n) for n in range(100)], {"high_water_messages": 1})],
    ids=["large", "the lowest high-water mark"],
)
async def test_rule_16_kept_updates_do_not_block_the_response_that_names_their_session(
    link: Link, texts: list[str], limits: dict[str, Any]
) -> None:
    class Waiting(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await created.wait()
            handled.append(text_of(notification))
            if len(handled) == len(texts):
                all_handled.set()

    handled: list[str] = []
    created, all_handled = asyncio.Event(), asyncio.Event()
    async with calling(link, Waiting, **limits) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        for text in texts:
            await peer.send(update("new", text))
        await peer.send({"id": id, "result": {"sessionId": "new"}})
        assert (await call).session_id == "new"
        created.set()
        await all_handled.wait()
        assert handled == texts


class Recording(PlainClient):
    """Puts the sessions of the updates that it handles into a queue, and the methods of extension notifications."""

    def __init__(self, agent: RemoteAgent) -> None:
        super().__init__(agent)
        self.handled = asyncio.Queue[str]()

    async def session_update(self, notification: SessionNotification, /) -> None:
        self.handled.put_nowait(notification.session_id)

    async def ext_notification(self, method: str, params: Any, /) -> None:
        self.handled.put_nowait(method)


async def test_rule_16_updates_of_unknown_sessions_are_held_only_while_one_is_created(link: Link) -> None:
    async with calling(link, Recording) as (agent, peer):
        handler: Any = agent.handler
        handled: asyncio.Queue[str] = handler.handled
        await peer.send(update("before", "x"))
        assert await handled.get() == "before"
        creating = asyncio.ensure_future(agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        await peer.send(update("other", "x"))
        await peer.until_quiet()
        assert handled.empty()
        await peer.send({"id": id, "result": {"sessionId": "new"}})
        await creating
        assert await handled.get() == "other"
        await peer.send(update("after", "x"))
        assert await handled.get() == "after"


async def test_rule_16_creating_a_session_delays_no_updates_of_others(link: Link) -> None:
    async with calling(link, Recording) as (agent, peer):
        handler: Any = agent.handler
        turn = asyncio.ensure_future(agent.session_prompt(session_id="used", prompt=[]))
        await peer.answer(result={"stopReason": "end_turn"})
        await turn
        creating = asyncio.ensure_future(agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        await peer.send(update("used", "x"))
        assert await handler.handled.get() == "used"
        await peer.send({"id": id, "result": {"sessionId": "new"}})
        await creating


async def test_rule_16_notifications_without_a_session_are_not_held_while_one_is_created(link: Link) -> None:
    async with calling(link, Recording) as (agent, peer):
        handler: Any = agent.handler
        creating = asyncio.ensure_future(agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        await peer.send({"method": "_note"})
        await peer.until_quiet()
        assert handler.handled.get_nowait() == "_note"
        await peer.send({"id": id, "result": {"sessionId": "new"}})
        await creating


async def test_rule_16_only_updates_of_the_created_session_go_on_while_another_is_created(link: Link) -> None:
    async with calling(link, Recording) as (agent, peer):
        handler: Any = agent.handler
        handled: asyncio.Queue[str] = handler.handled
        creating = [asyncio.ensure_future(agent.session_new(cwd=f"/{name}", mcp_servers=[])) for name in "ab"]
        first, second = [(await peer.receive())["id"] for _ in creating]
        await peer.send(update("a", "x"), update("b", "x"))
        await peer.until_quiet()
        assert handled.empty()
        await peer.send({"id": first, "result": {"sessionId": "a"}})
        await wait_until(lambda: not handled.empty(), lambda: "nothing is handled")
        assert handled.get_nowait() == "a"
        await peer.until_quiet()
        assert handled.empty()
        await peer.send({"id": second, "result": {"sessionId": "b"}})
        assert await handled.get() == "b"
        await asyncio.gather(*creating)


SIZE = len(line(update("new", "x"))) - 1 + MODEL_BYTES


@pytest.mark.parametrize("limits", [{"high_water_messages": 5}, {"max_held_bytes": 5 * SIZE}], ids=str)
async def test_rule_16_updates_beyond_the_mark_are_handled_before_the_session_is_created(
    link: Link, limits: dict[str, Any]
) -> None:
    async with calling(link, Recording, **limits) as (agent, peer):
        handler: Any = agent.handler
        creating = asyncio.ensure_future(agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        await peer.send(*(update("new", "x") for _ in range(4)))
        await peer.until_quiet()
        assert handler.handled.empty()
        await peer.send(update("new", "x"))
        await peer.until_quiet()
        assert [handler.handled.get_nowait() for _ in range(5)] == ["new"] * 5
        await peer.send({"id": id, "result": {"sessionId": "new"}})
        await creating


async def test_rule_16_a_session_is_still_used_when_one_of_its_terminals_is_released(link: Link) -> None:
    class Releasing(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            handled.set()

        async def terminal_release(self, request: ReleaseTerminalRequest, /) -> ReleaseTerminalResponse:
            return ReleaseTerminalResponse()

    handled = asyncio.Event()
    async with calling(link, Releasing) as (agent, peer):
        prompting = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
        await peer.answer(result={"stopReason": "end_turn"})
        await prompting
        assert "result" in await peer.call("terminal/release", {"sessionId": "s", "terminalId": "t"})
        creating = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        await peer.send(update("s", "1"))
        await handled.wait()
        await peer.send({"id": id, "result": {"sessionId": "new"}})
        await creating
