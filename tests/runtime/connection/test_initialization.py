"""Rule 25: `initialize`, and the messages that come before it is answered."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_bindings import v1_unstable
from acp_bindings.v1 import (
    CancelNotification,
    CancelRequestNotification,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
)
from acp_bindings.v1.connecting import AGENT_SIDE
from acp_bindings.v1_unstable.connecting import CLIENT_SIDE as UNSTABLE_CLIENT_SIDE
from acp_runtime import ConnectionClosed, Options, RequestError
from acp_runtime.connection import Connection, run
from acp_runtime.transports.memory import MemoryPipe
from tests.support.event_loop import let_others_run
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.any_profile import client_of
from tests.support.runtime.peer import INITIALIZE, Link, Peer, PlainAgent, calling, prompt, serving, update

NEW: dict[str, Any] = {"cwd": "/", "mcpServers": []}
BEGIN: dict[str, Any] = {"id": "i", "method": "initialize", "params": INITIALIZE}
CREATE: dict[str, Any] = {"id": "n", "method": "session/new", "params": NEW}
CANCEL: dict[str, Any] = {"method": "session/cancel", "params": {"sessionId": "s1"}}


class Gated(PlainAgent):
    """Answers `initialize` when its gate is opened, for instance by `_go`, and records the order of messages."""

    def __init__(self, client: Any, error: BaseException | None = None) -> None:
        super().__init__(client)
        self.gate = asyncio.Event()
        self.error = error
        self.order: list[str] = []

    async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return await super().initialize(request)

    async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
        self.order.append("session/new")
        return await super().session_new(request)

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        self.order.append("session/prompt")
        return await super().session_prompt(request)

    async def session_cancel(self, notification: CancelNotification, /) -> None:
        self.order.append("session/cancel")
        await super().session_cancel(notification)

    async def ext_request(self, method: str, params: Any) -> Any:
        self.gate.set()


async def _answers(peer: Peer, count: int) -> dict[Any, Any]:
    return {message["id"]: message for message in [await peer.receive() for _ in range(count)]}


def _codes(answers: dict[Any, Any]) -> dict[Any, Any]:
    return {id: answer.get("error", {}).get("code") for id, answer in answers.items()}


async def test_rule_25_messages_behind_initialize_wait_for_its_response_in_order(link: Link) -> None:
    factory = RecordingFactory(Gated)
    async with serving(link, factory, ready=False) as peer:
        await peer.send(BEGIN, CREATE, prompt("p"), CANCEL)
        assert await peer.until_quiet() == []
        assert factory.handler.order == []
        await peer.send({"id": "go", "method": "_go"})
        answers = [await peer.receive() for _ in range(4)]
        assert [message["id"] for message in answers][:2] in (["go", "i"], ["i", "go"])
        assert {message["id"] for message in answers[2:]} == {"n", "p"}
        await peer.until_quiet()
    assert factory.handler.order[0] == "session/new"
    assert factory.handler.order[-1] == "session/cancel"


@pytest.mark.parametrize("error", [RequestError(7, "no"), ValueError("bug"), asyncio.CancelledError(), SystemExit(1)])
async def test_rule_25_if_initialize_fails_early_requests_are_answered_invalid_request(
    link: Link, error: BaseException
) -> None:
    async with serving(link, lambda client: Gated(client, error), ready=False) as peer:
        await peer.send(BEGIN, CREATE, update("s1", "?"), prompt("p"), {"id": "go", "method": "_go"})
        answers = _codes(await _answers(peer, 4))
        assert answers["n"] == answers["p"] == -32600
        assert answers["i"] is not None
        assert await peer.until_quiet() == []


async def test_rule_25_after_a_failed_initialize_another_one_opens_the_connection(link: Link) -> None:
    factory = RecordingFactory(lambda client: Gated(client, ValueError()))
    async with serving(link, factory, ready=False) as peer:
        await peer.send(BEGIN, CREATE, {"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 3)) == {"i": -32603, "n": -32600, "go": None}
        factory.handler.error = None
        await peer.send({**BEGIN, "id": "j"}, CREATE)
        assert _codes(await _answers(peer, 2)) == {"j": None, "n": None}


@pytest.mark.parametrize("params", [{"protocolVersion": "x"}, {"protocolVersion": 2**70}, {}, None])
async def test_rule_25_requests_behind_an_invalid_initialize_are_too_early(link: Link, params: Any) -> None:
    async with serving(link, ready=False) as peer:
        await peer.send({**BEGIN, "params": params}, CREATE, prompt("p"))
        assert _codes(await _answers(peer, 3)) == {"i": -32602, "n": -32600, "p": -32600}


@pytest.mark.parametrize("params", [{}, None, [], {"cwd": 1}])
async def test_rule_25_before_initialize_requests_with_invalid_params_are_too_early(link: Link, params: Any) -> None:
    async with serving(link, ready=False) as peer:
        assert (await peer.call("session/new", params))["error"]["code"] == -32600
        await peer.call("initialize", INITIALIZE)
        assert (await peer.call("session/new", params))["error"]["code"] == -32602


async def test_rule_25_requests_with_invalid_params_behind_a_slow_initialize_wait(link: Link) -> None:
    async with serving(link, Gated, ready=False) as peer:
        await peer.send(BEGIN, {**CREATE, "params": {}})
        assert await peer.until_quiet() == []
        await peer.send({"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 3)) == {"i": None, "n": -32602, "go": None}


async def test_rule_25_an_early_request_can_be_cancelled(link: Link) -> None:
    async with serving(link, Gated, ready=False) as peer:
        await peer.send(BEGIN, CREATE, prompt("p"), {"method": "$/cancel_request", "params": {"requestId": "p"}})
        await peer.send({"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 4)) == {"i": None, "n": None, "p": -32800, "go": None}


async def test_rule_25_initialize_itself_can_be_cancelled(link: Link) -> None:
    async with serving(link, Gated, ready=False) as peer:
        await peer.send(BEGIN, CREATE, {"method": "$/cancel_request", "params": {"requestId": "i"}})
        assert _codes(await _answers(peer, 2)) == {"i": -32800, "n": -32600}
        await peer.send(BEGIN, {"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 2)) == {"i": None, "go": None}


async def test_rule_25_two_concurrent_initialize_requests_are_both_answered(link: Link) -> None:
    async with serving(link, Gated, ready=False) as peer:
        await peer.send(BEGIN, {**BEGIN, "id": "j"}, CREATE, {"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 4)) == {"i": None, "j": None, "n": None, "go": None}


async def test_rule_25_a_second_initialize_is_answered_and_delays_nothing(link: Link) -> None:
    async with serving(link) as peer:
        await peer.send(BEGIN, CREATE, prompt("p"))
        assert _codes(await _answers(peer, 3)) == {"i": None, "n": None, "p": None}


async def test_rule_25_an_agent_may_call_its_client_inside_initialize(link: Link) -> None:
    class Asking(PlainAgent):
        async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
            await self.client.ext_request("_who")
            return await super().initialize(request)

    async with serving(link, Asking, ready=False) as peer:
        await peer.send(BEGIN, CREATE)
        await peer.answer(result=None)
        assert [(await peer.receive())["id"] for _ in range(2)] == ["i", "n"]


@pytest.mark.parametrize("limit", [1, 3])
async def test_rule_25_reading_pauses_for_early_requests_and_resumes_after_initialize(link: Link, limit: int) -> None:
    factory = RecordingFactory(Gated)

    def count(direction: str, line: bytes, time: float) -> None:
        nonlocal received
        received += direction == "in"
        if received > limit:
            early.set()

    received, early = 0, asyncio.Event()
    async with serving(link, factory, ready=False, high_water_messages=limit, on_frame=count) as peer:
        sent = asyncio.create_task(peer.send(BEGIN, *(prompt(n) for n in range(200))))
        await early.wait()
        await let_others_run(50)
        assert received < 100
        factory.handler.gate.set()
        answers = _codes(await _answers(peer, 201))
        await sent
    assert answers == {"i": None, **dict.fromkeys(range(200))}
    assert factory.handler.order == ["session/prompt"] * 200


@pytest.mark.parametrize("steps", [0, 1, 40])
async def test_rule_25_a_whole_session_can_be_piped_in(link: Link, steps: int) -> None:
    class Slow(PlainAgent):
        async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
            for _ in range(steps):
                await asyncio.sleep(0.001)
            return await super().initialize(request)

        async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
            for _ in range(steps):
                await asyncio.sleep(0.001)
            return await super().session_new(request)

        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            for _ in range(steps):
                await asyncio.sleep(0.001)
            return await super().session_prompt(request)

    async with serving(link, Slow, ready=False, eof_grace=30) as peer:
        await peer.send(BEGIN, CREATE, prompt("p"), prompt("q"))
        await peer.end()
        answers = {message["id"]: message["result"] for message in await peer.rest()}
    assert answers.keys() == {"i", "n", "p", "q"}
    assert answers["p"] == {"stopReason": "end_turn"}


async def test_rule_25_a_piped_session_beyond_the_high_water_mark_is_answered_completely(link: Link) -> None:
    async with serving(link, ready=False, high_water_messages=2, eof_grace=30) as peer:
        sent = asyncio.create_task(peer.send(BEGIN, *(prompt(n) for n in range(50))))
        await sent
        await peer.end()
        answers = {message["id"]: message.get("result") for message in await peer.rest()}
    assert answers.pop("i") is not None
    assert answers == {n: {"stopReason": "end_turn"} for n in range(50)}


async def test_rule_25_an_initialize_result_that_is_not_json_does_not_open_the_connection(link: Link) -> None:
    class Infinite(PlainAgent):
        async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
            return InitializeResponse(protocol_version=1, meta={"x": float("inf")})

    async with serving(link, Infinite, ready=False) as peer:
        await peer.send(BEGIN, CREATE)
        assert _codes(await _answers(peer, 2)) == {"i": -32603, "n": -32600}


async def test_rule_25_calls_before_initialize_on_a_closed_connection_raise_connection_closed(link: Link) -> None:
    async with calling(link, ready=False) as (agent, peer):
        await peer.end()
        await agent.wait_closed()
        for call in (agent.session_new(cwd="/", mcp_servers=[]), agent.session_cancel(session_id="s")):
            with pytest.raises(ConnectionClosed):
                await call


async def test_rule_25_requests_that_wait_for_initialize_are_answered_when_the_client_leaves(link: Link) -> None:
    async with serving(link, Gated, ready=False, eof_grace=0.02) as peer:
        await peer.send(BEGIN, CREATE, CANCEL)
        await peer.end()
        answers = {message["id"]: message["error"]["code"] for message in await peer.rest()}
    assert answers == {"i": -32800, "n": -32800}


async def test_rule_25_requests_waiting_for_initialize_are_answered_when_the_agent_closes() -> None:
    there, back = MemoryPipe(), MemoryPipe()
    connection = Connection(AGENT_SIDE, Gated, back, there, Options(eof_grace=0))
    running, peer = asyncio.create_task(run(connection)), Peer(there, back)
    await peer.send(BEGIN, CREATE)
    await let_others_run(10)
    connection.stop()
    await running
    assert _codes({message["id"]: message for message in await peer.rest()}) == {"i": -32800, "n": -32800}


async def test_rule_25_a_connection_is_open_although_another_initialize_is_not_answered(link: Link) -> None:
    class Slow(PlainAgent):
        async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
            if request.client_info is None:
                await may_end.wait()
            return await super().initialize(request)

    may_end = asyncio.Event()
    quick = {"params": {**INITIALIZE, "clientInfo": {"name": "c", "version": "1"}}}
    async with serving(link, Slow, ready=False) as peer:
        await peer.send({**BEGIN, "id": "slow"}, {**BEGIN, **quick}, CREATE)
        assert _codes(await _answers(peer, 2)) == {"i": None, "n": None}
        await peer.send(prompt("p"))
        assert (await peer.receive())["id"] == "p"
        may_end.set()
        assert (await peer.receive())["id"] == "slow"


async def test_rule_18_messages_that_have_waited_for_initialize_count_no_longer(link: Link) -> None:
    async with serving(link, Gated, ready=False, high_water_bytes=100_000, flood_factor=1) as peer:
        await peer.send(BEGIN, prompt(1, text="x" * 60_000), {"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 3)) == {"i": None, 1: None, "go": None}
        await peer.send(prompt(2, text="x" * 60_000))
        assert "result" in await peer.receive()
        assert await peer.until_quiet() == []


async def test_rule_25_a_cancellation_by_id_that_comes_early_is_handled_once(link: Link) -> None:
    class Noting(Gated):
        async def cancel_request(self, notification: CancelRequestNotification, /) -> None:
            noted.append(notification.request_id)

    noted: list[Any] = []
    async with serving(link, Noting, ready=False) as peer:
        by_id = {"method": "$/cancel_request", "params": {"requestId": "p"}}
        await peer.send(BEGIN, prompt("p"), by_id, {"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 3)) == {"i": None, "p": -32800, "go": None}
        assert await peer.until_quiet() == []
        assert noted == ["p"]


class Conductor(client_of(v1_unstable, [])):  # type: ignore[misc]
    async def proxy_initialize(self, request: Any, /) -> Any:
        return v1_unstable.InitializeProxyResponse(protocol_version=request.protocol_version)


async def test_rule_25_the_initialize_of_a_proxy_opens_the_connection_of_either_side(link: Link) -> None:
    async with calling(link, Conductor, ready=False, side=UNSTABLE_CLIENT_SIDE) as (remote, peer):
        agent: Any = remote
        opening = asyncio.ensure_future(agent.proxy_initialize(protocol_version=1))
        await peer.answer(result={"protocolVersion": 1})
        await opening
        assert agent.supports("session/new")
    async with calling(link, Conductor, ready=False, side=UNSTABLE_CLIENT_SIDE) as (agent, peer):
        assert (await peer.call("proxy/initialize", INITIALIZE))["result"] == {"protocolVersion": 1}
        assert agent.supports("session/new")
