"""Rule 3: escaped lone surrogates are valid JSON; they are received and sent like any other text."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from acp_bindings.v1 import (
    ContentBlockText,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    SessionUpdateToolCall,
)
from acp_runtime import ExtRequest, InvalidResponse, RequestError
from tests.support.runtime.odd_json import TOO_DEEP, message, nested
from tests.support.runtime.peer import Link, Peer, PlainAgent, calling, chunk, serving, update

CUT = "cut \ud83d"
# U+FDD0 is included because the runtime hides surrogates behind it.
TEXTS = [
    CUT,
    "\udc00\ud800",
    "\ud83d\U0001f600",
    "\ud83d\ud83d\ude00\ude00".encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"),
    "\udfff\ufdd0\ufdd0d83d",
    "\\\ud83d\\ud83d\n\\\\ud83d",
    "\ufdd0d83d",
    "\U0001f600",
]
EXTREME = {
    "a surrogate in text": CUT,
    "surrogates in keys": {CUT: 1, "\udc00": {CUT: [CUT]}},
    "texts of every kind": TEXTS,
    "a null beside surrogates": {CUT: None},
    "many levels": {CUT: nested(150)},
}  # fmt: skip
extreme = pytest.mark.parametrize("value", EXTREME.values(), ids=EXTREME)


class Echo(PlainAgent):
    """Sends received values back: in results, errors, updates and notifications."""

    async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
        return NewSessionResponse(session_id=request.cwd, meta=request.meta)

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        for block in request.prompt:
            assert isinstance(block, ContentBlockText)
            await self.client.session_update(session_id=request.session_id, update=chunk(block.text))
        return PromptResponse(stop_reason="end_turn", meta=request.meta)

    async def ext_request(self, method: str, params: Any) -> Any:
        if method == "_fail":
            raise RequestError(1, params["message"], params["data"])
        return {"method": method, "params": params}

    async def ext_notification(self, method: str, params: Any) -> None:
        await self.client.ext_notification(method, params)


async def _receive(peer: Peer) -> Any:
    """Receive a message, which must be valid UTF-8 because surrogates are escaped."""
    sent = await peer.receive_line()
    sent.decode()
    return json.loads(sent)


@pytest.mark.parametrize("meta", [{CUT: 1, "\udc00": 2}, {"\ufffd" * 3: "\ufffd" * 3}])
async def test_rule_3_keys_of_meta_are_received_and_sent_unchanged(link: Link, meta: dict[str, Any]) -> None:
    async with serving(link, Echo) as peer:
        await peer.send({"id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": [], "_meta": meta}})
        assert (await _receive(peer))["result"]["_meta"] == meta


@extreme
async def test_rule_3_meta_is_received_and_sent_unchanged(link: Link, value: Any) -> None:
    async with serving(link, Echo) as peer:
        params = {"cwd": "/", "mcpServers": [], "_meta": {"x": value}}
        await peer.send({"id": 1, "method": "session/new", "params": params})
        assert await _receive(peer) == {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "/", "_meta": {"x": value}}}


@extreme
async def test_rule_3_params_and_results_of_extensions_are_received_and_sent_unchanged(link: Link, value: Any) -> None:
    async with serving(link, Echo) as peer:
        for params in (value, {"x": value}):
            await peer.send({"id": 1, "method": "_echo", "params": params})
            assert (await _receive(peer))["result"]["params"] == params
            await peer.send({"method": "_echo", "params": params})
            assert (await _receive(peer))["params"] == params


@pytest.mark.parametrize("text", TEXTS)
async def test_rule_3_ids_methods_and_session_ids_may_have_surrogates(link: Link, text: str) -> None:
    async with serving(link, Echo) as peer:
        await peer.send({"id": text, "method": f"_{text}"})
        assert await _receive(peer) == {"jsonrpc": "2.0", "id": text, "result": {"method": f"_{text}", "params": None}}
        await peer.send({"id": text, "method": text})
        refused = await _receive(peer)
        assert (refused["id"], refused["error"]["data"]) == (text, {"method": text})
        await peer.send({"method": text})
        prompt = {"sessionId": text, "prompt": [{"type": "text", "text": text}], text: text}
        await peer.send({"id": text, "method": "session/prompt", "params": prompt})
        assert (await _receive(peer))["params"] == update(text, text)["params"]
        assert (await _receive(peer))["id"] == text


async def test_rule_3_invalid_params_with_surrogates_are_refused(link: Link) -> None:
    async with serving(link, Echo) as peer:
        for bad in (CUT, {CUT: CUT}, None):
            params = {"cwd": CUT, "mcpServers": [{"name": bad, "command": "/x", "args": [], "env": []}]}
            params["mcpServers"] = [{"type": "http", "name": bad, "url": 5, "headers": []}]
            await peer.send({"id": 1, "method": "session/new", "params": params})
            error = (await _receive(peer))["error"]
            assert error["code"] == -32602
            assert "cut" not in json.dumps(error["data"]).replace("cutable", "")


@extreme
async def test_rule_3_results_may_have_surrogates(link: Link, value: Any) -> None:
    async with calling(link) as (agent, peer):
        typed = asyncio.create_task(agent.session_new(cwd=f"/{CUT}", mcp_servers=[], meta={"x": value}))
        sent = await _receive(peer)
        assert sent["params"] == {"cwd": f"/{CUT}", "mcpServers": [], "_meta": {"x": value}}
        await peer.send({"id": sent["id"], "result": {"sessionId": CUT, "_meta": {"x": value}, CUT: value}})
        result = await typed
        assert (result.session_id, result.meta, result.model_extra) == (CUT, {"x": value}, {CUT: value})
        plain = asyncio.create_task(agent.ext_request("_x", value))
        sent = await _receive(peer)
        assert sent["params"] == value
        await peer.send({"id": sent["id"], "result": value})
        assert await plain == value
        failing = asyncio.create_task(agent.ext_request("_x"))
        await peer.send({"id": (await _receive(peer))["id"], "error": {"code": 1, "message": CUT, "data": value}})
        with pytest.raises(RequestError) as caught:
            await failing
        assert (caught.value.message, caught.value.data) == (CUT, value)


async def test_rule_9_an_invalid_result_with_surrogates_is_an_invalid_response(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        bad = {"sessionId": 5, CUT: "hunter2", "_meta": CUT}
        await peer.answer(result=bad)
        with pytest.raises(InvalidResponse, match="sessionId") as caught:
            await call
        assert "hunter2" not in str(caught.value)
        assert CUT not in str(caught.value)


async def test_rule_3_sending_a_value_that_is_nested_too_deeply_raises(link: Link) -> None:
    circle: list[Any] = []
    circle.append(circle)
    model = SessionUpdateToolCall(tool_call_id="1", title="x", raw_input={"x": nested(TOO_DEEP)})
    async with calling(link) as (agent, peer):
        for value in (nested(TOO_DEEP), {CUT: nested(TOO_DEEP)}, circle, model):
            with pytest.raises(ValueError, match=r"depth|[Cc]ircular"):
                await agent.ext_notification("_x", value)
            with pytest.raises(ValueError, match=r"depth|[Cc]ircular"):
                await agent.ext_request("_x", [CUT, value])
        await agent.ext_notification("_last")
        assert (await _receive(peer))["method"] == "_last"


@pytest.mark.parametrize("spelling", [r"\ud83d", r"\uD83D", r"\uFDD0", r"\ufdd0", "\ufdd0", r"\ud83d\ufdd0d83d"])
async def test_rule_3_every_spelling_of_a_character_is_read_as_that_character(link: Link, spelling: str) -> None:
    text = rf'"{spelling} \udc00 \\{spelling} \ud83d\ude00"'
    async with serving(link, Echo) as peer:
        await peer.send(message(id=1, method="_echo", params=text.encode()) + b"\n")
        assert (await _receive(peer))["result"]["params"] == json.loads(text)


@dataclass
class Place:
    """A dataclass of an application, in the params of its extension method."""

    path: str


class Size(NamedTuple):
    """A named tuple of an application, likewise."""

    unit: str
    value: int


class Marked(BaseModel):
    """A model of an application with values of several classes."""

    place: Place
    pair: tuple[str, int]
    size: Size
    names: set[str]
    rest: Any = None


async def test_rule_3_surrogates_are_restored_in_dataclasses_tuples_and_sets(link: Link) -> None:
    mark = ExtRequest("_acme/mark", Marked, Marked)
    value = Marked(place=Place(CUT), pair=(CUT, 1), size=Size(CUT, 2), names={CUT}, rest=[CUT])
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.call(mark, value))
        sent = await _receive(peer)
        assert sent["params"] == {
            "place": {"path": CUT},
            "pair": [CUT, 1],
            "size": [CUT, 2],
            "names": [CUT],
            "rest": [CUT],
        }
        await peer.send({"id": sent["id"], "result": sent["params"]})
        assert await call == value
