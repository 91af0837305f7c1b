"""Rules 3 and 9: lines that are not JSON are matched to their request or call, which is answered or fails."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_runtime import InvalidResponse
from tests.support.runtime.odd_json import CERTAIN, DAMAGE, message
from tests.support.runtime.peer import Link, PlainClient, calling, serving

# Decoding doesn't depend on the transport, so one is enough.
pytestmark = pytest.mark.parametrize("link", ["memory"], indirect=True)

PARSE_ERROR = {"code": -32700, "message": "Parse error"}


def _new_session(id: Any, odd: bytes) -> bytes:
    return message(id=id, method="session/new", params=b'{"cwd":"/","mcpServers":[],"_meta":{"x":%b}}' % odd)


@pytest.mark.parametrize("name", CERTAIN)
@pytest.mark.parametrize("method", ["session/new", "unknown", "_extension"])
async def test_rule_3_a_request_that_is_not_json_but_can_be_read_is_refused_with_its_own_id(
    link: Link, name: str, method: str
) -> None:
    async with serving(link) as peer:
        await peer.send(message(id=17, method=method, params=b'{"x":%b}' % CERTAIN[name]) + b"\n")
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 17, "error": PARSE_ERROR}
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("id", ["17", "\ud83d", "a\n", 2**70, -1, None])
async def test_rule_3_the_id_of_a_request_that_is_not_json_is_echoed_exactly(link: Link, id: Any) -> None:
    async with serving(link) as peer:
        for odd in CERTAIN.values():
            await peer.send(_new_session(id, odd) + b"\n")
            response = await peer.receive()
            assert (response["id"], response["error"]) == (id, PARSE_ERROR)


@pytest.mark.parametrize("id", [b"1.5", b"true", b"NaN", b"9" * 6000, b"[1]", b"1e999"])
async def test_rule_3_an_invalid_id_is_not_echoed(link: Link, id: bytes) -> None:
    async with serving(link) as peer:
        await peer.send(message(id=id, method="session/new", params=CERTAIN["NaN"]) + b"\n")
        assert await peer.receive() == {"jsonrpc": "2.0", "id": None, "error": PARSE_ERROR}


@pytest.mark.parametrize("name", CERTAIN)
@pytest.mark.parametrize("method", ["session/cancel", "unknown", "_extension"])
async def test_rule_3_a_notification_that_is_not_json_gets_one_error_without_an_id(
    link: Link, name: str, method: str
) -> None:
    async with serving(link) as peer:
        await peer.send(message(method=method, params=CERTAIN[name]) + b"\n")
        assert await peer.receive() == {"jsonrpc": "2.0", "id": None, "error": PARSE_ERROR}
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("name", DAMAGE)
async def test_rule_3_an_unreadable_request_gets_one_error_without_an_id(link: Link, name: str) -> None:
    async with serving(link) as peer:
        await peer.send(DAMAGE[name](_new_session(17, b'"hunter2"')) + b"\n")
        assert await peer.receive() == {"jsonrpc": "2.0", "id": None, "error": PARSE_ERROR}
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("name", CERTAIN)
@pytest.mark.parametrize(
    "members", [{"result": b'{"sessionId":"s","_meta":{"x":%b}}'}, {"error": b'{"code":1,"message":"no","data":%b}'}]
)
async def test_rule_9_a_response_that_is_not_json_fails_its_call_at_once_and_is_not_answered(
    link: Link, name: str, members: dict[str, bytes]
) -> None:
    async with calling(link) as (agent, peer):
        for call in (agent.session_new(cwd="/", mcp_servers=[]), agent.ext_request("_x")):
            pending = asyncio.ensure_future(call)
            id = (await peer.receive())["id"]
            await peer.send(message(id=id, **{key: value % CERTAIN[name] for key, value in members.items()}) + b"\n")
            with pytest.raises(InvalidResponse, match="JSON"):
                await pending
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("name", DAMAGE)
async def test_rule_9_an_unreadable_response_fails_its_call_at_once(link: Link, name: str) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        await peer.send(DAMAGE[name](message(id=id, result={"sessionId": "hunter2"})) + b"\n")
        with pytest.raises(InvalidResponse) as caught:
            await call
        assert "hunter2" not in str(caught.value)
        assert await peer.receive() == {"jsonrpc": "2.0", "id": None, "error": PARSE_ERROR}
        assert await peer.until_quiet() == []


async def test_rule_9_an_unreadable_response_after_a_banner_fails_its_call(link: Link) -> None:
    async with calling(link, ready=False) as (agent, peer):
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        id = (await peer.receive())["id"]
        await peer.send(b"Welcome\n", message(id=id, result={"protocolVersion": 1})[:-1] + b"\n")
        with pytest.raises(InvalidResponse):
            await call


@pytest.mark.parametrize("name", DAMAGE)
async def test_rule_9_an_unreadable_request_does_not_fail_a_call_with_the_same_id(link: Link, name: str) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        permission = {"method": "session/request_permission", "params": {"sessionId": "hunter2"}}
        await peer.send(DAMAGE[name](message(id=id, **permission)) + b"\n")
        assert (await peer.receive())["error"] == PARSE_ERROR
        await peer.send({"id": id, "result": {"sessionId": "s"}})
        assert (await call).session_id == "s"


@pytest.mark.parametrize(
    "rest", ['"session/requ', '"session/request_permission"', "", '"a\\x"', '"a" "params"', "{,", "\x00"]
)
async def test_rule_9_a_request_with_an_unreadable_method_does_not_fail_a_call_with_the_same_id(
    link: Link, rest: str
) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        await peer.send(b'{"jsonrpc":"2.0","id":%d,"method":%b\n' % (id, rest.encode()))
        assert (await peer.receive())["error"] == PARSE_ERROR
        await peer.send({"id": id, "result": {"sessionId": "s"}})
        assert (await call).session_id == "s"


async def test_rule_9_a_response_truncated_within_its_id_does_not_fail_another_call(link: Link) -> None:
    async with calling(link) as (agent, peer):
        calls = [asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[])) for _ in range(12)]
        ids = [(await peer.receive())["id"] for _ in calls]
        await peer.send(b'{"jsonrpc":"2.0","id":%d\n' % (max(ids) // 10))
        assert (await peer.receive())["id"] is None
        for id in ids:
            await peer.send({"id": id, "result": {"sessionId": "s"}})
        assert {(await call).session_id for call in calls} == {"s"}


async def test_rule_9_an_unreadable_response_with_its_id_at_the_end_fails_its_call(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        id = (await peer.receive())["id"]
        await peer.send(b'{"result":{"sessionId":"\xff","x":["\\"id\\":9"]},"jsonrpc":"2.0","\\u0069d":%d}\n' % id)
        with pytest.raises(InvalidResponse):
            await call


async def test_rule_3_an_update_that_is_not_json_does_not_affect_other_updates(link: Link) -> None:
    class Client(PlainClient):
        async def ext_request(self, method: str, params: Any) -> Any:
            return len(self.updates)

    chunk = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"},"_meta":{"x":%b}}'
    async with calling(link, Client) as (_, peer):
        for odd in (b"1", *CERTAIN.values(), b"2"):
            await peer.send(message(method="session/update", params=b'{"sessionId":"s","update":%b}' % (chunk % odd)))
            await peer.send(b"\n")
        responses = [await peer.receive() for _ in CERTAIN]
        assert responses == [{"jsonrpc": "2.0", "id": None, "error": PARSE_ERROR}] * len(CERTAIN)
        assert (await peer.call("_count"))["result"] == 2
