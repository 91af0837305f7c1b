"""Rule 22: tasks that `start_task` has started end with their connection."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_bindings import v2_draft as v2
from acp_runtime import ConnectionClosed
from tests.runtime.connection.v2_peer import AgentV2, serving_v2
from tests.support.runtime.peer import Link, PlainAgent, calling, prompt, serving


async def test_rule_22_a_task_outlives_its_handler_and_is_awaited_when_the_connection_ends(link: Link) -> None:
    events: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            events.append("cancelled")
            raise

    class Starting(PlainAgent):
        async def session_prompt(self, request: Any, /) -> Any:
            self.client.start_task(work())
            self.client.start_task(self.note_end())
            return await super().session_prompt(request)

        async def note_end(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                events.append("ended")

    async with serving(link, Starting) as peer:
        assert "result" in await peer.call(*prompt_call())
        assert events == []
    assert sorted(events) == ["cancelled", "ended"]


def prompt_call() -> tuple[str, Any]:
    message = prompt(0)
    return message["method"], message["params"]


async def test_rule_22_a_client_starts_tasks_too_and_they_end_before_the_connection_has(link: Link) -> None:
    async with calling(link) as (agent, peer):
        task = agent.start_task(asyncio.Event().wait())
        closed = asyncio.ensure_future(agent.wait_closed())
        await peer.end()
        await closed
        assert task.cancelled()
        unstarted = asyncio.Event().wait()
        with pytest.raises(ConnectionClosed):
            agent.start_task(unstarted)


@pytest.mark.parametrize("error", [ValueError("late"), SystemExit(3)], ids=repr)
async def test_rule_22_an_error_of_a_task_is_logged_and_the_connection_goes_on(
    link: Link, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        raise error

    async with calling(link) as (agent, peer):
        await agent.start_task(work())
        assert await peer.until_quiet() == []
    (record,) = [record for record in caplog.records if record.exc_info]
    assert record.getMessage().startswith("The task test_rule_22_an_error_of_a_task")
    assert record.getMessage().endswith("work failed")
    assert record.exc_info is not None
    assert record.exc_info[1] is error


async def test_rule_22_a_task_ended_with_the_connection_logs_one_line(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(link) as (agent, peer):

        async def work() -> None:
            await agent.ext_request("_never")

        agent.start_task(work())
        await peer.receive()
    (record,) = [record for record in caplog.records if "work" in record.getMessage()]
    assert (record.levelname, record.exc_info) == ("WARNING", None)
    assert "was stopped by the end of a connection" in record.getMessage()


async def test_rule_22_a_task_cancelled_before_its_first_step_leaves_nothing(link: Link) -> None:
    async def work() -> None:
        raise AssertionError

    async with calling(link) as (agent, _):
        task = agent.start_task(work())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_rule_22_a_task_that_ignores_its_cancellation_is_abandoned(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    async with calling(link, handler_deadline=0.05) as (agent, peer):
        agent.start_task(work())
        await peer.until_quiet()
    assert "A handler did not end when it was cancelled, and is abandoned: <Task" in caplog.text


async def test_rule_22_a_factory_can_start_tasks(link: Link) -> None:
    started = asyncio.Event()

    class Starting(PlainAgent):
        def __init__(self, client: Any) -> None:
            super().__init__(client)
            client.start_task(self.watch())

        async def watch(self) -> None:
            started.set()
            await asyncio.Event().wait()

    async with serving(link, Starting):
        await started.wait()


async def test_rule_22_tasks_of_a_factory_that_fails_are_cancelled(link: Link) -> None:
    tasks: list[asyncio.Task[None]] = []

    class Failing(PlainAgent):
        def __init__(self, client: Any) -> None:
            tasks.append(client.start_task(self.watch()))
            raise ValueError("no")

        async def watch(self) -> None:
            raise AssertionError

    with pytest.raises(ValueError, match="no"):
        async with serving(link, Failing):
            pass
    await asyncio.wait(tasks)
    assert tasks[0].cancelled()


async def test_rule_31_a_task_of_another_event_loop_is_refused(link: Link) -> None:
    async def work() -> None:
        raise AssertionError

    async with calling(link) as (agent, _):

        async def start() -> None:
            agent.start_task(work())

        with pytest.raises(RuntimeError, match="another event loop"):
            await asyncio.to_thread(asyncio.run, start())
        with pytest.raises(TypeError, match="takes a coroutine"):
            agent.start_task(work)  # type: ignore[arg-type]


async def test_rule_18_a_call_from_a_task_does_not_stop_reading(link: Link) -> None:
    class Waiting(PlainAgent):
        async def ext_notification(self, method: str, params: Any) -> None:
            await self.client.start_task(self.ask())

        async def ask(self) -> None:
            await self.client.ext_request("_ask")

    async with serving(link, Waiting, high_water_messages=2) as peer:
        await peer.send(*({"method": "_note"} for _ in range(10)))
        for _ in range(10):
            request = await peer.receive()
            assert request["method"] == "_ask"
            await peer.send({"id": request["id"], "result": None})
        assert await peer.until_quiet() == []


async def test_rule_21_a_task_that_the_handler_started_accepts_its_prompt(link: Link) -> None:
    class Accepting(AgentV2):  # type: ignore[misc]
        async def session_prompt(self, request: Any, /) -> Any:
            await self.client.start_task(self.report(request.session_id))
            raise ValueError("late")

        async def report(self, session_id: str) -> None:
            update = v2.SessionUpdateUserMessage(message_id="m", content=[])
            await self.client.session_update(session_id=session_id, update=update)

    async with serving_v2(link, Accepting) as peer:
        await peer.send(prompt(1))
        assert (await peer.receive())["method"] == "session/update"
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"messageId": "m"}}
