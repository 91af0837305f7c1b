"""Rules 15 to 17: order and concurrency."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

import pytest

from acp_bindings.v1 import PromptRequest, PromptResponse, RemoteAgent, SessionNotification
from tests.support.event_loop import let_others_run
from tests.support.runtime.peer import (
    Link,
    PlainAgent,
    PlainClient,
    calling,
    chunk,
    line,
    prompt,
    serving,
    text_of,
    update,
)


async def test_rule_15_requests_run_concurrently_and_start_in_wire_order(link: Link) -> None:
    started: list[Any] = []
    gate = asyncio.Event()

    class Concurrent(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            started.append(params)
            if len(started) == 20:
                gate.set()
            await gate.wait()
            return params

    async with serving(link, Concurrent) as peer:
        await peer.send(*({"id": n, "method": "_n", "params": n} for n in range(20)))
        assert {(await peer.receive())["result"] for _ in range(20)} == set(range(20))
        assert started == list(range(20))


async def test_rule_15_notifications_of_a_session_are_handled_in_order_even_if_handlers_await(link: Link) -> None:
    handled: dict[str, list[str]] = defaultdict(list)
    inside: set[str] = set()

    class Slow(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            assert notification.session_id not in inside
            inside.add(notification.session_id)
            await let_others_run(len(handled[notification.session_id]) % 4)
            handled[notification.session_id].append(text_of(notification))
            inside.discard(notification.session_id)

    async with calling(link, Slow) as (agent, peer):
        call = asyncio.create_task(agent.session_prompt(session_id="a", prompt=[]))
        id = (await peer.receive())["id"]
        await peer.send(*(update("ab"[n % 2], str(n)) for n in range(100)))
        await peer.send({"id": id, "result": {"stopReason": "end_turn"}})
        await call
        assert handled["a"] == [str(n) for n in range(0, 100, 2)]
        await peer.until_quiet()
    assert handled["b"] == [str(n) for n in range(1, 100, 2)]


@pytest.mark.skipif(not hasattr(asyncio, "eager_task_factory"), reason="Python 3.12 has eager tasks")
async def test_rule_15_notifications_are_handled_in_order_even_if_tasks_are_eager(link: Link) -> None:
    eager: Any = getattr(asyncio, "eager_task_factory", None)
    async with calling(link) as (agent, peer):
        asyncio.get_running_loop().set_task_factory(eager)
        await peer.send(*(update("s1", str(number)) for number in range(5)))
        await peer.end()
        await agent.wait_closed()
        handler: Any = agent.handler
        assert [text_of(received) for received in handler.updates] == ["0", "1", "2", "3", "4"]


async def test_rule_15_a_handler_that_cancels_itself_interrupts_no_other(link: Link) -> None:
    class Cancelling(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            if text_of(notification) == "1":
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                return
            await asyncio.sleep(0)
            await super().session_update(notification)

    async with calling(link, Cancelling) as (agent, peer):
        turn = asyncio.ensure_future(agent.session_prompt(session_id="s", prompt=[]))
        id = (await peer.receive())["id"]
        updates = [update("s", str(number)) for number in range(4)]
        await peer.send(*updates, {"id": id, "result": {"stopReason": "end_turn"}})
        await turn
        handler: Any = agent.handler
        assert [text_of(received) for received in handler.updates] == ["0", "2", "3"]


async def test_rule_15_sessions_do_not_wait_for_each_other(link: Link) -> None:
    gate, done = asyncio.Event(), asyncio.Event()

    class Blocking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            if notification.session_id == "slow":
                await gate.wait()
            else:
                done.set()

    async with calling(link, Blocking) as (_, peer):
        await peer.send(update("slow", "1"), update("fast", "1"))
        await done.wait()
        gate.set()


async def test_rule_16_a_response_resolves_after_the_updates_of_its_session_were_handled(link: Link) -> None:
    class Slow(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            handled.append(text_of(notification))

    handled: list[str] = []
    async with calling(link, Slow, capabilities={"loadSession": True}) as (agent, peer):
        for call, result in (
            (agent.session_prompt(session_id="s", prompt=[]), {"stopReason": "end_turn"}),
            (agent.session_load(session_id="s", cwd="/", mcp_servers=[]), {}),
        ):
            handled.clear()
            task = asyncio.create_task(call)  # type: ignore[arg-type]
            id = (await peer.receive())["id"]
            await peer.send(*(update("s", str(n)) for n in range(50)), {"id": id, "result": result})
            await task
            assert len(handled) == 50


async def test_rule_16_a_caller_has_its_result_before_the_next_update_is_handled(link: Link) -> None:
    class Recording(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            events.append(text_of(notification))

    async def run_turn(agent: RemoteAgent) -> None:
        await agent.session_prompt(session_id="s", prompt=[])
        events.append("result")

    events: list[str] = []
    async with calling(link, Recording) as (agent, peer):
        turn = asyncio.create_task(run_turn(agent))
        result = {"id": (await peer.receive())["id"], "result": {"stopReason": "end_turn"}}
        await peer.send(line(update("s", "before")) + line(result) + line(update("s", "after")))
        await turn
        await peer.until_quiet()
    assert events == ["before", "result", "after"]


async def test_rule_16_requests_without_a_session_do_not_wait(link: Link) -> None:
    gate = asyncio.Event()

    class Blocking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await gate.wait()

        async def ext_notification(self, method: str, params: Any) -> None:
            await gate.wait()

    async with calling(link, Blocking) as (agent, peer):
        call = asyncio.create_task(agent.ext_request("_ping"))
        id = (await peer.receive())["id"]
        await peer.send(update("s", "1"), {"method": "_note"}, {"id": id, "result": "pong"})
        assert await call == "pong"
        gate.set()


async def test_rule_16_a_call_from_inside_a_notification_handler_does_not_deadlock(link: Link) -> None:
    answers: list[Any] = []
    done = asyncio.Event()

    class Reentrant(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            response = await self.agent.session_set_mode(session_id="s", mode_id=text_of(notification))
            answers.append(response.meta)
            if len(answers) == 2:
                done.set()

    async with calling(link, Reentrant) as (_, peer):
        await peer.send(update("s", "1"), update("s", "2"))
        for mode in ("1", "2"):
            request = await peer.receive()
            assert request["params"]["modeId"] == mode
            await peer.send({"id": request["id"], "result": {"_meta": {"mode": mode}}})
        await done.wait()
        assert answers == [{"mode": "1"}, {"mode": "2"}]


async def test_rule_16_notification_handlers_of_two_connections_that_call_each_others_peer_end(link: Link) -> None:
    class Calling(PlainClient):
        def __init__(self, agent: RemoteAgent, name: str) -> None:
            super().__init__(agent)
            agents[name] = agent
            self.name = name

        async def session_update(self, notification: SessionNotification, /) -> None:
            await agents["b" if self.name == "a" else "a"].ext_request("_x", {"sessionId": "s"})

    agents: dict[str, RemoteAgent] = {}
    async with (
        calling(link, lambda agent: Calling(agent, "a")) as (agent, a),
        calling(link, lambda agent: Calling(agent, "b")) as (_, b),
    ):
        await a.send(update("s", "x"))
        await b.send(update("s", "x"))
        requests = [await a.receive(), await b.receive()]
        await a.send({"id": requests[0]["id"], "result": {}})
        await b.send({"id": requests[1]["id"], "result": {}})
        call = asyncio.create_task(agent.session_set_mode(session_id="s", mode_id="m"))
        await a.answer(result={})
        async with asyncio.timeout(30):
            await call


async def test_rule_16_kept_updates_are_handled_first_once_this_side_uses_their_session(link: Link) -> None:
    class Recording(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            handled.append(text_of(notification))

    handled: list[str] = []
    async with calling(link, Recording) as (agent, peer):
        created = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        creation = (await peer.receive())["id"]
        await peer.send(update("other", "1"))
        await peer.until_quiet()
        prompted = asyncio.create_task(agent.session_prompt(session_id="other", prompt=[]))
        turn = (await peer.receive())["id"]
        await peer.send(update("other", "2"), {"id": turn, "result": {"stopReason": "end_turn"}})
        await prompted
        assert handled == ["1", "2"]
        await peer.send({"id": creation, "result": {"sessionId": "new"}})
        await created


async def test_rule_16_kept_updates_are_released_if_the_session_is_not_created(link: Link) -> None:
    async with calling(link) as (agent, peer):
        task = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        await peer.receive()
        await peer.send(update("new", "1"))
        await peer.until_quiet()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await peer.receive())["method"] == "$/cancel_request"
        prompted = asyncio.create_task(agent.session_prompt(session_id="new", prompt=[]))
        await peer.answer(result={"stopReason": "end_turn"})
        await prompted


async def test_rule_17_updates_that_an_agent_sends_are_on_the_wire_before_its_response(link: Link) -> None:
    class Streaming(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            for number in range(100):
                await self.client.session_update(session_id=request.session_id, update=chunk(str(number)))
            return PromptResponse(stop_reason="end_turn")

    async with serving(link, Streaming) as peer:
        await peer.send(prompt(1))
        for number in range(100):
            assert (await peer.receive())["params"]["update"]["content"]["text"] == str(number)
        assert (await peer.receive())["id"] == 1
