"""Rules 3 and 9: a line that is not JSON gets one error, and fails the call that it begins to answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_runtime import InvalidResponse
from tests.support.runtime.odd_json import DAMAGE, message
from tests.support.runtime.peer import Link, PlainClient, calling, serving

PARSE_ERROR = {"code": -32700, "message": "Parse error"}


def _new_session(id: Any, odd: bytes) -> bytes:
    return message(id=id, method="session/new", params=b'{"cwd":"/","mcpServers":[],"_meta":{"x":%b}}' % odd)


@pytest.mark.parametrize("name", DAMAGE)
async def test_rule_3_an_unreadable_request_gets_one_error_without_an_id(link: Link, name: str) -> None:
    async with serving(link) as peer:
        await peer.send(DAMAGE[name](_new_session(17, b'"hunter2"')) + b"\n")
        assert await peer.receive() == {"jsonrpc": "2.0", "id": None, "error": PARSE_ERROR}
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


async def test_rule_9_a_response_truncated_within_its_id_does_not_fail_another_call(link: Link) -> None:
    async with calling(link) as (agent, peer):
        calls = [asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[])) for _ in range(12)]
        ids = [(await peer.receive())["id"] for _ in calls]
        await peer.send(b'{"jsonrpc":"2.0","id":%d\n' % (max(ids) // 10))
        assert (await peer.receive())["id"] is None
        for id in ids:
            await peer.send({"id": id, "result": {"sessionId": "s"}})
        assert {(await call).session_id for call in calls} == {"s"}


async def test_rule_3_an_update_that_is_not_json_does_not_affect_other_updates(link: Link) -> None:
    class Client(PlainClient):
        async def ext_request(self, method: str, params: Any) -> Any:
            return len(self.updates)

    chunk = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"},"_meta":{"x":%b}}'
    async with calling(link, Client) as (_, peer):
        sent = message(method="session/update", params=b'{"sessionId":"s","update":%b}' % (chunk % b'"hunter2"'))
        for variant in (sent, *(damage(sent) for damage in DAMAGE.values()), sent):
            await peer.send(variant + b"\n")
        responses = [await peer.receive() for _ in DAMAGE]
        assert responses == [{"jsonrpc": "2.0", "id": None, "error": PARSE_ERROR}] * len(DAMAGE)
        assert (await peer.call("_count"))["result"] == 2
