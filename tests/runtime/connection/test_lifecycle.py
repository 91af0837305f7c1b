"""Rule 22: how a connection ends. A fixture checks after every test that no task, thread or descriptor is left."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import pytest

from acp_bindings.v1 import (
    Client,
    InitializeRequest,
    InitializeResponse,
    PromptRequest,
    PromptResponse,
    RemoteAgent,
    connect_in_process,
    connect_streams,
    serve_streams,
)
from acp_bindings.v1.connecting import AGENT_SIDE
from acp_runtime import ConnectionClosed, Options
from acp_runtime.connection import Connection, run
from acp_runtime.transports.memory import MemoryPipe
from tests.support.event_loop import let_others_run, wait_until
from tests.support.runtime.peer import Link, PlainAgent, PlainClient, calling, line, prompt, serving

pytestmark = pytest.mark.every_link


async def test_rule_22_pending_calls_fail_when_the_peer_closes(link: Link) -> None:
    async with calling(link) as (agent, peer):
        calls = [asyncio.create_task(agent.session_prompt(session_id="s", prompt=[])) for _ in range(3)]
        for _ in calls:
            await peer.receive()
        await peer.end()
        for call in calls:
            with pytest.raises(ConnectionClosed, match="closed"):
                await call
        with pytest.raises(ConnectionClosed):
            await agent.session_prompt(session_id="s", prompt=[])


async def test_rule_21_a_prompt_in_flight_when_the_client_closes_is_answered_cancelled(link: Link) -> None:
    cancelled: list[str] = []

    class Endless(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(request.session_id)
                raise
            raise AssertionError

    async with serving(link, Endless, eof_grace=0.05) as peer:
        await peer.send(prompt(1), prompt(2, "s2"))
        await peer.end()
        answers = {message["id"]: message["result"] for message in await peer.rest()}
        assert answers == {1: {"stopReason": "cancelled"}, 2: {"stopReason": "cancelled"}}
    assert sorted(cancelled) == ["s1", "s2"]


async def test_rule_22_a_handler_that_calls_the_peer_after_its_end_does_not_hang(link: Link) -> None:
    class Asking(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            with pytest.raises(ConnectionClosed):
                await self.client.ext_request("_ask")
            with pytest.raises(ConnectionClosed):
                await self.client.ext_request("_ask_again")
            return PromptResponse(stop_reason="refusal")

    async with serving(link, Asking) as peer:
        await peer.send(prompt(1))
        assert (await peer.receive())["method"] == "_ask"
        await peer.end()
        assert [message["result"] for message in await peer.rest()] == [{"stopReason": "refusal"}]


async def test_rule_22_closing_does_not_wait_for_a_peer_that_never_reads(link: Link) -> None:
    class Large(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            return "x" * 1_000_000

    async with serving(link, Large, flush_deadline=0.1, eof_grace=0.05) as peer:
        await peer.send({"id": 1, "method": "_large"})
        await peer.end()


async def test_rule_22_an_answer_after_the_end_of_file_that_nobody_reads_delays_nothing() -> None:
    class Large(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            await may_answer.wait()
            return "x" * 1_000_000

    may_answer = asyncio.Event()
    there, back = MemoryPipe(), MemoryPipe()
    options = Options(guards="off", eof_grace=600, flush_deadline=0)
    connection = Connection(AGENT_SIDE, Large, back, there, options)
    running = asyncio.create_task(run(connection))
    back.write(line({"id": 1, "method": "_large"}))
    await back.close()
    await let_others_run(10)
    may_answer.set()
    await wait_until(running.done, lambda: connection.tasks.running)


@pytest.mark.parametrize("ignored", [asyncio.CancelledError, BaseException])
# A coroutine that ignores everything is reported when it is freed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_rule_22_closing_ends_a_handler_that_ignores_its_cancellation(
    link: Link, ignored: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    tasks: list[asyncio.Task[Any] | None] = []

    class Stubborn(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            tasks.append(asyncio.current_task())
            while True:
                with suppress(ignored):
                    await asyncio.Event().wait()

    async with serving(link, Stubborn, eof_grace=0.05, handler_deadline=0.05) as peer:
        await peer.send(prompt(1))
        await peer.end()
        assert [message["result"] for message in await peer.rest()] == [{"stopReason": "cancelled"}]
    assert "did not end" in caplog.text
    assert [task is not None and task.done() for task in tasks] == [True]
    assert "asyncio" not in [record.name for record in caplog.records]


async def test_rule_22_a_handler_whose_own_task_ignores_its_cancellation_is_answered(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    may_end = asyncio.Event()

    async def ignore_cancellation() -> None:
        while not may_end.is_set():
            with suppress(asyncio.CancelledError):
                await may_end.wait()

    class Waiting(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            await asyncio.create_task(ignore_cancellation())
            return PromptResponse(stop_reason="end_turn")

    async with serving(link, Waiting, eof_grace=0.05, handler_deadline=0.05) as peer:
        await peer.send(prompt(1))
        await peer.end()
        assert [message["result"] for message in await peer.rest()] == [{"stopReason": "cancelled"}]
    may_end.set()
    while len(asyncio.all_tasks()) > 1:
        await asyncio.sleep(0)
    gc.collect()
    assert "asyncio" not in [record.name for record in caplog.records]


async def test_rule_22_closing_ends_a_notification_handler_that_ignores_its_cancellation(link: Link) -> None:
    class Stubborn(PlainAgent):
        async def ext_notification(self, method: str, params: Any, /) -> None:
            while True:
                with suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()

    async with serving(link, Stubborn, eof_grace=0.05, handler_deadline=0.05) as peer:
        await peer.send({"method": "_first"}, {"method": "_second"})
        await peer.end()
        assert await peer.rest() == []


async def test_rule_22_the_clean_up_of_an_abandoned_handler_runs_in_its_own_context(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    variable = ContextVar[str]("variable")

    class Stubborn(PlainAgent):
        async def ext_request(self, method: str, params: Any, /) -> None:
            await self.ext_notification(method, params)

        async def ext_notification(self, method: str, params: Any, /) -> None:
            token = variable.set(method)
            try:
                while True:
                    with suppress(asyncio.CancelledError):
                        await asyncio.Event().wait()
            finally:
                variable.reset(token)  # raises in another context

    async with serving(link, Stubborn, eof_grace=0.05, handler_deadline=0.05) as peer:
        await peer.send({"id": 1, "method": "_request"}, {"method": "_notification"})
        await peer.end()
        assert [message["error"]["code"] for message in await peer.rest()] == [-32800]
    assert "failed" not in caplog.text


async def test_rule_22_leaving_the_block_of_a_client_ends_both_sides() -> None:
    async with connect_in_process(PlainAgent, PlainClient) as agent:
        assert await agent.initialize(protocol_version=1) == InitializeResponse(protocol_version=1)
    with pytest.raises(ConnectionClosed):
        await agent.session_new(cwd="/", mcp_servers=[])


async def test_rule_22_a_body_that_raises_or_is_cancelled_ends_both_sides() -> None:
    with pytest.raises(ZeroDivisionError):
        async with connect_in_process(PlainAgent, PlainClient):
            raise ZeroDivisionError

    async def body() -> None:
        async with connect_in_process(PlainAgent, PlainClient):
            entered.set()
            await asyncio.Event().wait()

    entered = asyncio.Event()
    task = asyncio.create_task(body())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_any_pair_of_asyncio_streams_can_be_a_connection() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await serve_streams(PlainAgent, reader, writer)
        served.set()

    served = asyncio.Event()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    async with connect_streams(PlainClient, reader, writer) as agent:
        await agent.initialize(protocol_version=1)
        assert (await agent.session_new(cwd="/", mcp_servers=[])).session_id == "s1"
    await served.wait()
    server.close()
    await server.wait_closed()


async def test_on_frame_is_called_with_each_direction_line_and_time(link: Link) -> None:
    frames: list[tuple[str, bytes, float]] = []
    async with serving(link, on_frame=lambda *frame: frames.append(frame)) as peer:
        raw = line(prompt(1))
        await peer.send(raw)
        answer = await peer.receive_line()
    assert [frame[:2] for frame in frames[-2:]] == [("in", raw.rstrip()), ("out", answer)]
    assert frames[-2][2] <= frames[-1][2]


async def test_a_handler_does_not_inherit_the_context_of_a_caller_in_the_same_process() -> None:
    class Looking(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            seen.append(variable.get("nothing"))
            return await super().session_prompt(request)

    seen: list[str] = []
    variable: ContextVar[str] = ContextVar("variable")
    async with connect_in_process(Looking, PlainClient) as agent:
        await agent.initialize(protocol_version=1)
        variable.set("the caller's")
        await agent.session_prompt(session_id="s", prompt=[])
    assert seen == ["nothing"]


class Incomplete(Client):
    """A client that lacks its methods."""

    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent


class Updates:
    """A class with a handler, for the bases of a client."""

    async def session_update(self, notification: Any, /) -> None:
        pass


class Late(Client, Updates):
    """A client whose other base comes too late."""

    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent


class Unconnected(Client):
    """A client that is made without a proxy."""

    async def session_update(self, notification: Any, /) -> None:
        pass

    async def session_request_permission(self, request: Any, /) -> Any:
        pass


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        (lambda _: None, r"The factory returned None instead of an instance of acp_bindings\.v1\.Client\."),
        (lambda _: Client, r"The factory returned <class .*Client'> instead of an instance"),
        (
            PlainAgent,
            r"The factory returned <.*\.PlainAgent object at .*> instead of an instance of acp_bindings\.v1\.Client\.",
        ),
        (
            Unconnected(),
            r"^Pass the class Unconnected itself, or a function .*, not the instance Unconnected\(\.\.\.\)\. ",
        ),
        (object(), r"^'object' object is not callable$"),
        (Unconnected, r"^Unconnected\(\) takes no arguments\. The factory is called with one argument, the proxy "),
        (Incomplete, r"^Can't instantiate abstract class Incomplete[^.]*$"),
        (
            Late,
            r"^Can't instantiate abstract class Late .*session_update'?\. Write Updates before Client in its bases\.$",
        ),
    ],
)
async def test_a_factory_that_makes_no_handler_is_an_error_at_once(factory: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        async with connect_in_process(PlainAgent, factory):
            pytest.fail("it was connected")


async def test_a_handler_that_is_callable_may_be_a_factory() -> None:
    class Itself(Unconnected):
        def __call__(self, agent: RemoteAgent) -> Itself:
            return self

    client = Itself()
    async with connect_in_process(PlainAgent, client) as agent:
        assert agent.handler is client


async def test_a_request_object_as_an_argument_says_to_pass_keywords() -> None:
    with pytest.raises(TypeError, match=r"were given: pass keywords\. `request\(\.\.\.\)`"):
        async with connect_in_process(PlainAgent, PlainClient) as agent:
            proxy: Any = agent
            await proxy.initialize(InitializeRequest(protocol_version=1))


async def test_a_call_with_a_request_object_is_explained_in_the_log(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Positional(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            client: Any = self.client
            await client.session_update(request, session_id=request.session_id)
            raise AssertionError

    async with serving(link, Positional) as peer:
        await peer.call("session/prompt", prompt(1)["params"])
    assert "given: pass keywords. `request(...)` and `notify(...)` take" in caplog.text


async def test_only_a_type_error_is_explained_in_the_log(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    class Failing(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            raise ValueError("RemoteClient.session_update() takes 1 positional argument but 2 were given")

    async with serving(link, Failing) as peer:
        await peer.call("session/prompt", prompt(1)["params"])
    assert "but 2 were given" in caplog.text
    assert "pass keywords" not in caplog.text
