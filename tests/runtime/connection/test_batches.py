"""Rule 4 in version 2: arrays of messages are received, and their answers come in one array."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from acp_bindings import v2_draft as v2
from acp_bindings.v2_draft.connecting import AGENT_SIDE
from acp_runtime import RemoteError
from acp_runtime.jsonrpc import check_line
from tests.runtime.connection.v2_peer import INITIALIZE_V2, AgentV2, ClientV2, calling_v2, permission, serving_v2
from tests.support.runtime.peer import Link, line, prompt, serving, update

INVALID = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid request"}}
CANCEL = {"method": "session/cancel", "params": {"sessionId": "s1"}}


def batch(*entries: Any) -> bytes:
    """Return the line of a batch; dicts are completed to messages."""
    return line([{"jsonrpc": "2.0", **entry} if isinstance(entry, dict) else entry for entry in entries])


def request(id: Any, method: str = "_echo", params: Any = None) -> dict[str, Any]:
    return {"id": id, "method": method, "params": params}


def result(id: Any, value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": value}


def codes(answers: list[Any]) -> dict[Any, int | None]:
    """Return the error codes of answers by id, None for a result."""
    return {answer["id"]: answer.get("error", {}).get("code") for answer in answers}


class Echo(AgentV2):  # type: ignore[misc]
    """An agent that answers extension methods with their params, and `_wait` when `gate` is open."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.gate = asyncio.Event()
        self.notes: list[Any] = []

    async def ext_request(self, method: str, params: Any) -> Any:
        if method == "_wait":
            await self.gate.wait()
        if method == "_open":
            self.gate.set()
        return self.notes if method == "_notes" else params

    async def ext_notification(self, method: str, params: Any) -> None:
        self.notes.append(params)

    async def session_list(self, request: Any, /) -> Any:
        return v2.ListSessionsResponse(sessions=[])

    async def session_cancel(self, notification: Any, /) -> None:
        self.notes.append("cancel")
        await super().session_cancel(notification)


async def test_rule_4_the_answers_to_a_batch_come_in_one_array(link: Link) -> None:
    async with serving_v2(link, Echo) as peer:
        note = {"method": "_note", "params": [5]}
        await peer.send(batch(request(1, params={"a": 1}), note, request("x", "unknown"), request(2**70), 7))
        answers = await peer.receive()
        assert codes(answers) == {1: None, "x": -32601, 2**70: None, None: -32600}
        assert len(answers) == 4
        assert result(1, {"a": 1}) in answers
        assert (await peer.call("_notes"))["result"] == [[5]]


async def test_rule_4_a_batch_of_notifications_is_handled_in_order_and_not_answered(link: Link) -> None:
    async with serving_v2(link, Echo) as peer:
        notes = [{"method": "_note", "params": {"sessionId": "s1", "n": number}} for number in range(5)]
        await peer.send(batch(*notes[:3], {"method": "unknown"}, {"method": "session/cancel"}), *notes[3:])
        assert await peer.until_quiet() == []
        assert (await peer.call("_notes"))["result"] == [note["params"] for note in notes]


async def test_rule_4_each_invalid_entry_of_a_batch_is_answered(link: Link) -> None:
    async with serving_v2(link, Echo) as peer:
        await peer.send(batch(1, "a", None, [], [request(1)], {"id": 1.5, "method": "_echo"}, {}, {"method": 5}))
        assert await peer.receive() == [INVALID] * 8
        await peer.send(b"[1]\n", b"[]\n", b"[1,\n", b"[" * 300 + b"]" * 300 + b"\n")
        assert await peer.receive() == [INVALID]
        assert await peer.receive() == INVALID
        assert [(await peer.receive())["error"]["code"] for _ in range(2)] == [-32700] * 2
        assert await peer.until_quiet() == []


async def test_rule_4_params_in_a_batch_are_read_like_those_of_a_line(link: Link) -> None:
    async with serving_v2(link, Echo) as peer:
        await peer.send(batch(request(1, "session/prompt", {}), request(2)))
        answers = {answer["id"]: answer for answer in await peer.receive()}
        assert {fault["path"] for fault in answers[1]["error"]["data"]["errors"]} == {"sessionId", "prompt"}
        await peer.send(
            b'[{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cwd":"/Infinity","x":[1e999,"\\"Infinity"]}},'
            b'{"jsonrpc":"2.0","id":2,"method":"_echo","params":["\\ud83d",1e2]},'
            b'{"jsonrpc":"2.0","id":3,"method":"session/list","params":{"cwd":"Infinity"}}]\n'
        )
        answers = {answer["id"]: answer for answer in await peer.receive()}
        assert answers[1]["result"] == {"sessions": []}
        assert answers[2]["result"] == ["\ud83d", 100]
        assert answers[3]["error"]["code"] == -32602


async def test_rule_30_dropped_values_of_a_batch_are_logged(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    async with serving_v2(link, Echo) as peer:
        with caplog.at_level("DEBUG", "acp_runtime"):
            await peer.send(
                b'[{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cwd":"/Infinity","_meta":5,"x":1e999}}]\n'
            )
            assert codes(await peer.receive()) == {1: None}
    assert "Dropped params._meta of session/list: an invalid int" in caplog.text


async def test_rule_4_the_array_of_answers_waits_for_the_last_one(link: Link) -> None:
    async with serving_v2(link, Echo) as peer:
        await peer.send(batch(request(1, "_wait"), request(2)))
        assert await peer.until_quiet() == []
        await peer.send(request(3, "_open"))
        assert await peer.receive() == result(3, None)
        assert await peer.receive() == [result(2, None), result(1, None)]


async def test_rule_8_requests_of_a_batch_with_the_same_id_are_all_answered(link: Link) -> None:
    async with serving_v2(link, Echo) as peer:
        await peer.send(batch(request(1, params=[1]), request(1, params=[2])))
        assert await peer.receive() == [result(1, [1]), result(1, [2])]


async def test_rule_20_an_entry_of_a_batch_cancels_another_one(link: Link) -> None:
    async with serving_v2(link, Echo) as peer:
        by_id = {"method": "$/cancel_request", "params": {"requestId": 1}}
        await peer.send(batch(request(1, "_wait"), by_id, request(2)))
        assert codes(await peer.receive()) == {1: -32800, 2: None}
        await peer.send(batch(by_id, request(1)))
        assert await peer.receive() == [result(1, None)]


async def test_rule_21_a_session_cancel_in_a_batch_cancels_the_prompt_before_it(link: Link) -> None:
    class Waiting(Echo):
        async def session_prompt(self, request: Any, /) -> Any:
            await asyncio.Event().wait()

    async with serving_v2(link, Waiting) as peer:
        await peer.send(batch(prompt(1), CANCEL))
        assert codes(await peer.receive()) == {1: -32800}


async def test_rule_21_cancelling_a_session_answers_its_requests_in_their_batch(link: Link) -> None:
    class Thinking(ClientV2):
        async def session_request_permission(self, request: Any, /) -> Any:
            await asyncio.Event().wait()

    async with calling_v2(link, Thinking, eof_grace=0.05) as (agent, peer):
        await peer.send(batch(permission("a"), permission("b", "other")))
        assert await peer.until_quiet() == []
        for session in ("s1", "other"):
            await agent.session_cancel(session_id=session)
            assert (await peer.receive())["method"] == "session/cancel"
        outcomes = {answer["id"]: answer["result"]["outcome"] for answer in await peer.receive()}
        assert outcomes == {id: {"outcome": "cancelled"} for id in "ab"}


async def test_rule_4_responses_in_a_batch_resolve_their_calls(link: Link) -> None:
    async with calling_v2(link) as (agent, peer):
        first, second = (asyncio.create_task(agent.ext_request("_ask", number)) for number in (1, 2))
        ids = [(await peer.receive())["id"] for _ in range(2)]
        note = update("s1", "x")
        note["params"]["update"]["messageId"] = "m"
        error = {"code": -32603, "message": "no"}
        await peer.send(
            batch({"id": ids[1], "result": 2}, note, {"id": ids[0], "error": error}, {"id": 99, "result": 3})
        )
        assert await second == 2
        with pytest.raises(RemoteError, match="no"):
            await first
        assert await peer.until_quiet() == []
        assert len(agent.handler.updates) == 1


async def test_rule_4_a_client_answers_a_batch(link: Link) -> None:
    async with calling_v2(link) as (_, peer):
        await peer.send(batch(permission("a"), permission("b")))
        assert codes(await peer.receive()) == {"a": None, "b": None}


@pytest.mark.parametrize("is_last", [False, True])
async def test_rule_17_notifications_to_a_session_created_in_a_batch_follow_the_array(
    link: Link, is_last: bool
) -> None:
    class Creating(Echo):
        async def session_new(self, request: Any, /) -> Any:
            await self.client.session_update(session_id="s1", update=v2.SessionUpdateStateUpdateRunning())
            await asyncio.sleep(0)
            return v2.NewSessionResponse(session_id="s1")

    async with serving_v2(link, Creating) as peer:
        await peer.send(batch(request(1, "session/new", {"cwd": "/"}), request(2, "_echo" if is_last else "_wait")))
        if not is_last:
            assert await peer.until_quiet() == []
            await peer.call("_open")
        assert codes(await peer.receive()) == {1: None, 2: None}
        assert (await peer.receive())["method"] == "session/update"


async def test_rule_22_a_batch_is_answered_at_the_end_of_the_connection(link: Link) -> None:
    async with serving_v2(link, Echo, eof_grace=0.05) as peer:
        await peer.send(batch(request(1, "_wait"), request(2)).rstrip(b"\n"))
        await peer.end()
        (answers,) = await peer.rest()
        assert codes(answers) == {1: -32800, 2: None}


async def test_rule_22_a_batch_with_a_handler_that_ignores_its_cancellation_is_answered(link: Link) -> None:
    class Deaf(Echo):
        async def ext_request(self, method: str, params: Any) -> Any:
            while method == "_wait":
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    continue

    async with serving_v2(link, Deaf, eof_grace=0.05, handler_deadline=0.05) as peer:
        await peer.send(batch(request(1, "_wait"), request(2)))
        await peer.end()
        (answers,) = await peer.rest()
        assert codes(answers) == {1: -32800, 2: None}


@pytest.mark.parametrize("wire", ["initialize", "_echo"])
async def test_rule_25_a_batch_before_initialize_is_refused(link: Link, wire: str) -> None:
    async with serving_v2(link, Echo, ready=False) as peer:
        await peer.send(batch(request(1, wire, INITIALIZE_V2), CANCEL))
        assert await peer.receive() == INVALID
        assert await peer.until_quiet() == []
        assert "result" in await peer.call("initialize", INITIALIZE_V2)
        await peer.send(batch(request(1)))
        assert await peer.receive() == [result(1, None)]


async def test_rule_25_a_batch_of_notifications_before_initialize_is_not_answered(link: Link) -> None:
    async with serving_v2(link, Echo, ready=False) as peer:
        await peer.send(batch(CANCEL, {"method": "unknown"}, {"method": "_note", "params": 1}, {"id": 5, "result": 1}))
        assert await peer.until_quiet() == []
        assert (await peer.call("_notes"))["result"] == [1]


@pytest.mark.parametrize("ends", [False, True], ids=["", "which never ends"])
async def test_rule_25_a_batch_during_initialize_waits(link: Link, ends: bool) -> None:
    class Slow(Echo):
        async def initialize(self, request: Any, /) -> Any:
            await self.gate.wait()
            return await super().initialize(request)

    async with serving_v2(link, Slow, ready=False, eof_grace=0.05) as peer:
        await peer.send(request(1, "initialize", INITIALIZE_V2), batch(request(2, "session/list"), request(3)))
        assert await peer.until_quiet() == []
        if ends:
            await peer.end()
            assert codes((await peer.rest())[0]) == {2: -32800, 3: None}
        else:
            await peer.call("_open")
            assert "result" in await peer.receive()
            assert await peer.receive() == [result(3, None), result(2, {"sessions": []})]


async def test_rule_25_a_client_takes_the_response_to_initialize_in_a_batch(link: Link) -> None:
    async with calling_v2(link, guards="raise") as (agent, peer):
        call = asyncio.create_task(agent.initialize(protocol_version=2, info=v2.Implementation(name="c", version="1")))
        id = (await peer.receive())["id"]
        answer = {"id": id, "result": {"protocolVersion": 2, "info": {"name": "a", "version": "1"}}}
        await peer.send(batch(permission(1), answer))
        assert (await call).protocol_version == 2
        assert await peer.receive() == INVALID
        assert await peer.until_quiet() == []


async def test_rule_25_a_client_handles_messages_after_the_response_to_initialize_in_a_batch(link: Link) -> None:
    async with calling_v2(link, guards="raise") as (agent, peer):
        call = asyncio.create_task(agent.initialize(protocol_version=2, info=v2.Implementation(name="c", version="1")))
        id = (await peer.receive())["id"]
        result = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}}
        state = {"sessionUpdate": "state_update", "state": "running"}
        note = {"method": "session/update", "params": {"sessionId": "s1", "update": state}}
        await peer.send(batch({"id": id, "result": result}, note))
        await call
        assert await peer.until_quiet() == []
        assert [notification.session_id for notification in agent.handler.updates] == ["s1"]


async def test_rule_4_a_batch_of_more_messages_than_may_wait_is_refused(link: Link) -> None:
    async with serving_v2(link, Echo, high_water_messages=20) as peer:
        note = {"method": "_note"}
        await peer.send(batch(*[note] * 21), batch(*[note] * 20))
        assert await peer.receive() == INVALID
        assert len((await peer.call("_notes"))["result"]) == 20


class Verbose(Echo):
    """An agent that answers `_text` with a text of this length."""

    async def ext_request(self, method: str, params: Any) -> Any:
        return "x" * params if method == "_text" else await super().ext_request(method, params)


@pytest.mark.parametrize(("limit", "entries"), [(999, [2, 2, 1]), (998, [1, 1, 1, 1, 1])])
async def test_rule_5_answers_that_are_too_large_for_one_array_come_in_several(
    link: Link, limit: int, entries: list[int]
) -> None:
    async with serving_v2(link, Verbose, max_message_bytes=limit) as peer:
        length = 498 - len(b'{"jsonrpc":"2.0","id":1,"result":""}')
        await peer.send(batch(*[request(id, "_text", length) for id in range(5)]))
        lines = [await peer.receive_line() for _ in entries]
        assert [len(json.loads(line)) for line in lines] == entries
        assert max(map(len, lines)) == (999 if limit == 999 else 500)
        assert {answer["id"] for line in lines for answer in json.loads(line)} == set(range(5))


async def test_rule_5_an_answer_larger_than_the_limit_comes_in_an_array(link: Link) -> None:
    async with serving_v2(link, Verbose, max_message_bytes=1000, guards="warn") as peer:
        await peer.send(batch(request(1, "_text", 2000)))
        assert await peer.receive() == [result(1, "x" * 2000)]


async def test_rule_18_reading_pauses_between_batches(link: Link) -> None:
    class Counting(Echo):
        async def ext_notification(self, method: str, params: Any) -> None:
            handled.append(params["n"])
            read.append(len(lines))

    handled, read, lines = list[int](), list[int](), list[bytes]()
    notes = [{"method": "_note", "params": {"n": number}} for number in range(300)]
    batches = b"".join(batch(*notes[first : first + 10]) for first in range(0, 300, 10))
    options: dict[str, Any] = {"on_frame": lambda _, line, __: lines.append(line)}
    async with serving_v2(link, Counting, high_water_messages=10, **options) as peer:
        lines.clear()
        await peer.send(batches)
        assert await peer.until_quiet() == []
        assert handled == list(range(300))
        assert read[0] == 1


async def test_rule_18_answers_that_wait_for_others_of_their_batch_count_as_a_flood(link: Link) -> None:
    async with serving_v2(link, Echo, high_water_bytes=100_000, flood_factor=1, eof_grace=0.05) as peer:
        waiting = batch(request(1, "_wait"), *[request(2, params="x" * 8_000)] * 4)
        await peer.send(waiting)
        assert await peer.until_quiet() == []
        await peer.send(waiting, waiting)
        assert codes((await peer.rest())[0]) == {1: -32800, 2: None}  # the connection has ended


async def test_rule_18_answers_of_batches_that_were_sent_count_no_longer(link: Link) -> None:
    async with serving_v2(link, Echo, high_water_bytes=20_000, flood_factor=1) as peer:
        for _ in range(20):
            await peer.send(batch(request(1), request(2)))
            assert await peer.receive() == [result(1, None), result(2, None)]


async def test_rule_4_version_1_refuses_a_batch(link: Link) -> None:
    async with serving(link) as peer:
        await peer.send(batch(request(1), prompt(2)))
        assert await peer.receive() == INVALID
        assert await peer.until_quiet() == []


def test_a_batch_is_checked_entry_by_entry() -> None:
    assert check_line(AGENT_SIDE, batch(request(1), CANCEL)) == ("batch", None, None, "")
    checked = check_line(AGENT_SIDE, batch(CANCEL, {"method": "session/cancel", "params": {}}, 5))
    assert checked == ("batch", None, None, "sessionId: Field required")
