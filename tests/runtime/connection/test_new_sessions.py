"""Rule 16: updates of a new session are handled after its caller has the result, and do not block the response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

import pytest

from acp_bindings.v1 import RemoteAgent, SessionNotification
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
async def test_rule_16_updates_of_a_new_session_are_handled_after_its_caller_has_the_result(
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
            for _ in range(2):
                await asyncio.sleep(0)
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


async def test_a_handler_of_a_kept_update_does_not_inherit_the_context_of_the_caller(link: Link) -> None:
    class Looking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            seen.append(variable.get("nothing"))
            done.set()

    async def create(agent: RemoteAgent) -> None:
        variable.set("the caller's")
        await agent.session_new(cwd="/", mcp_servers=[])
        await agent.session_prompt(session_id="new", prompt=[])

    seen: list[str] = []
    done = asyncio.Event()
    variable: ContextVar[str] = ContextVar("variable")
    async with calling(link, Looking) as (agent, peer):
        task = asyncio.create_task(create(agent))
        id = (await peer.receive())["id"]
        await peer.send(update("new", "1"), {"id": id, "result": {"sessionId": "new"}})
        await done.wait()
        await peer.send({"id": (await peer.receive())["id"], "result": {"stopReason": "end_turn"}})
        await task
    assert seen == ["nothing"]


async def test_rule_16_a_response_waits_for_updates_of_a_closed_session_while_another_is_created(link: Link) -> None:
    clients: list[PlainClient] = []

    def factory(agent: RemoteAgent) -> PlainClient:
        clients.append(PlainClient(agent))
        return clients[0]

    async with calling(link, factory, guards="off") as (agent, peer):
        turn = asyncio.ensure_future(agent.session_prompt(session_id="s1", prompt=[]))
        prompted = (await peer.receive())["id"]
        closing = asyncio.ensure_future(agent.session_close(session_id="s1"))
        await peer.send({"id": (await peer.receive())["id"], "result": {}})
        await closing
        creating = asyncio.ensure_future(agent.session_new(cwd="/", mcp_servers=[]))
        created = (await peer.receive())["id"]
        await peer.send(update("s1", "last words"), {"id": prompted, "result": {"stopReason": "cancelled"}})
        await turn
        assert [text_of(each) for each in clients[0].updates] == ["last words"]
        await peer.send({"id": created, "result": {"sessionId": "s2"}})
        await creating
