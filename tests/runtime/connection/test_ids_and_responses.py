"""Rules 7 to 10: ids and responses."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_bindings.v1 import PromptRequest, PromptResponse
from acp_runtime import InvalidResponse
from tests.support.runtime.peer import INITIALIZE, Link, PlainAgent, calling, prompt, serving


async def test_rule_7_outgoing_ids_count_up(link: Link) -> None:
    async with calling(link) as (agent, peer):
        calls = [asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[])) for _ in range(3)]
        ids = [(await peer.receive())["id"] for _ in calls]
        assert ids == [1, 2, 3]  # initialize was 0
        for id in reversed(ids):
            await peer.send({"id": id, "result": {"sessionId": f"s{id}"}})
        assert [(await call).session_id for call in calls] == ["s1", "s2", "s3"]


@pytest.mark.parametrize("id", ["31", 31, 0, -1, 2**53 + 1, 2**70, -(2**63), "", "ü\n", None])
async def test_rule_7_a_response_echoes_the_id_exactly(link: Link, id: Any) -> None:
    async with serving(link) as peer:
        await peer.send(prompt(id))
        answer = await peer.receive()
        assert answer["id"] == id
        assert type(answer["id"]) is type(id)
        await peer.send({"id": id, "method": "unknown"})
        assert (await peer.receive())["id"] == id


@pytest.mark.parametrize("id", ["31", 2**53 + 1, -(2**70), "", None])
async def test_rule_7_an_error_echoes_the_id_exactly(link: Link, id: Any) -> None:
    class Failing(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            raise ValueError

    async with serving(link, Failing, ready=False) as peer:
        await peer.send(prompt(id))
        early = await peer.receive()
        await peer.call("initialize", INITIALIZE)
        await peer.send({"id": id, "method": "session/prompt", "params": {}}, prompt(id))
        answers = [early, await peer.receive(), await peer.receive()]
        assert [answer["error"]["code"] for answer in answers] == [-32600, -32602, -32603]
        for answer in answers:
            assert (answer["id"], type(answer["id"])) == (id, type(id))


async def test_rule_8_two_requests_in_flight_with_the_same_id_are_both_answered(link: Link) -> None:
    class Waiting(PlainAgent):
        gate = asyncio.Event()

        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            await self.gate.wait()
            return PromptResponse(stop_reason="end_turn")

        async def ext_notification(self, method: str, params: Any) -> None:
            self.gate.set()

    Waiting.gate = asyncio.Event()
    async with serving(link, Waiting) as peer:
        await peer.send(prompt(5), prompt(5), {"method": "_go"})
        assert [(await peer.receive())["id"] for _ in range(2)] == [5, 5]
        assert await peer.until_quiet() == []


@pytest.mark.parametrize(
    "answer",
    [
        {"id": 77, "result": {}},
        {"id": None, "error": {"code": -32600, "message": "no"}},
        {"id": 0, "result": {}},
        {"id": "0", "result": {}},
        {"id": [1], "result": {}},
        {"id": 1.0, "error": "x"},
        {"result": {}},
        {"error": {}},
    ],
)
async def test_rule_8_a_response_to_no_call_is_ignored_and_not_answered(link: Link, answer: Any) -> None:
    async with serving(link) as peer:
        await peer.send(answer)
        assert await peer.until_quiet() == []


@pytest.mark.parametrize(
    "answer",
    [
        b'{"jsonrpc":"1.0","id":77,"result":1}',
        b'{"id":77,"error":{"code":1,"message":"x"}}',
        b'{"id":{},"result":1,"params":{}}',
        b'{"jsonrpc":"2.0","id":1e400,"result":{}}',
        b'{"jsonrpc":"2.0","id":77,"method":null,"result":1}',
        b'{"jsonrpc":"2.0","id":77,"result":1,"error":2}',
    ],
)
async def test_rule_8_a_malformed_response_is_not_answered(link: Link, answer: bytes) -> None:
    async with serving(link) as peer:
        await peer.send(answer + b"\n")
        assert await peer.until_quiet() == []


async def test_rule_8_a_second_response_to_a_call_is_ignored(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        await peer.send({"id": id, "result": {"sessionId": "a"}}, {"id": id, "result": {"sessionId": "b"}})
        assert (await call).session_id == "a"
        assert await peer.until_quiet() == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"result": {"sessionId": "s"}, "error": {"code": 1, "message": "x"}}, "both"),
        ({"result": None, "error": None}, "both"),
        ({}, "neither"),
        ({"error": "x"}, "error"),
        ({"error": None}, "error"),
        ({"error": {"message": "x"}}, "code"),
        ({"error": {"code": "1", "message": "x"}}, "code"),
        ({"error": {"code": True, "message": "x"}}, "code"),
        ({"error": {"code": 1}}, "message"),
        ({"result": {"sessionId": 5}}, "sessionId"),
        ({"result": {}}, "sessionId"),
        ({"result": []}, "result"),
        ({"result": "s"}, "result"),
        ({"result": None}, "null"),
        ({"jsonrpc": "1.0", "result": {"sessionId": "s"}}, "jsonrpc"),
    ],
)
async def test_rule_9_a_malformed_response_fails_only_its_call(link: Link, answer: Any, reason: str) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        other = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        ids = [(await peer.receive())["id"] for _ in range(2)]
        await peer.send({"id": ids[0], **answer})
        with pytest.raises(InvalidResponse, match=reason) as caught:
            await call
        assert caught.value.method == "session/new"
        assert "session/new" in str(caught.value)
        await peer.send({"id": ids[1], "result": {"sessionId": "fine"}})
        assert (await other).session_id == "fine"


@pytest.mark.parametrize("is_cancelled", [False, True])
@pytest.mark.parametrize("id", ["0", 99, 2**70, -1, 1.5, True, None, [0], {}], ids=repr)
async def test_rule_8_a_response_with_another_id_is_logged_and_answers_no_call(
    link: Link, id: Any, is_cancelled: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.ext_request("_ping"))
        assert (await peer.receive())["id"] == 1  # which True equals
        if is_cancelled:
            call.cancel()
            await peer.receive()
        await peer.send({"id": id, "result": "wrong"})
        assert await peer.until_quiet() == []
        assert call.done() == is_cancelled
        call.cancel()
    shown = id if isinstance(id, str | int) and not isinstance(id, bool) else None
    assert caplog.messages == [f"Ignored a response with an unknown id: {shown}"]


@pytest.mark.parametrize(("error", "code"), [({"code": -32700, "message": "Parse error"}, "-32700"), ("what?", "None")])
async def test_rule_8_an_error_without_an_id_is_logged_as_such(
    link: Link, error: Any, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(link) as (_, peer):
        await peer.send({"id": None, "error": error})
        assert await peer.until_quiet() == []
    assert caplog.messages == [f"The peer could not read something that this side wrote: error {code}"]
