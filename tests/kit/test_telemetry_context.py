"""The context of a call reaches its handler in `params._meta`, next to the caller's own keys."""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import baggage, context, propagate
from opentelemetry.propagators.textmap import default_setter
from opentelemetry.trace import SpanKind, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from pydantic import BaseModel

from acp_bindings import v1
from acp_kit.telemetry import Tracing
from acp_runtime import ExtNotification, ExtRequest, Model, handles
from tests.kit.traced import Traced, parent, say, session, span_id
from tests.support.runtime.peer import Link, PlainAgent, PlainClient, calling, prompt, serving
from tools.paths import ROOT

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{SPAN}-01"


async def test_the_spans_of_a_turn_are_a_chain_across_two_processes(tmp_path: Path) -> None:
    traced, file = Traced(), tmp_path / "spans.json"
    command = (sys.executable, "-m", "tests.kit.traced_agent", str(file))

    class TracingClient(PlainClient):
        async def session_update(self, notification: Any, /) -> None:
            with traced.tracer.start_as_current_span("show"):
                pass

    async with v1.spawn_agent(TracingClient, *command, cwd=ROOT, options=traced.options) as agent:
        await agent.initialize(protocol_version=1)
        await agent.session_new(cwd="/work", mcp_servers=[])
        with traced.tracer.start_as_current_span("user"):
            await agent.session_prompt(session_id="s1", prompt=[v1.ContentBlockText(text="hi")])
    theirs = [json.loads(line) for line in file.read_text().splitlines()]
    ours = [json.loads(span.to_json()) for span in traced.spans]
    spans = {(span["name"], span["kind"].removeprefix("SpanKind.")): span for span in [*ours, *theirs]}
    chain = [
        ("user", "INTERNAL"),
        ("session/prompt", "CLIENT"),
        ("session/prompt", "SERVER"),
        ("session/request_permission", "CLIENT"),
        ("session/request_permission", "SERVER"),
    ]
    assert spans[chain[0]]["parent_id"] is None
    for outer, inner in pairwise(chain):
        assert spans[inner]["parent_id"] == spans[outer]["context"]["span_id"], (outer, inner)
        assert spans[inner]["attributes"]["acp.session.id"] == "s1"
        assert spans[inner]["context"]["trace_id"] == spans[outer]["context"]["trace_id"]
    # The handler of an update has no span of its own.
    assert spans["show", "INTERNAL"]["parent_id"] == spans["session/prompt", "SERVER"]["context"]["span_id"]
    assert {(span["name"], span["kind"]) for span in theirs} == {
        ("initialize", "SpanKind.SERVER"),
        ("session/new", "SpanKind.SERVER"),
        ("session/prompt", "SpanKind.SERVER"),
        ("session/request_permission", "SpanKind.CLIENT"),
    }
    assert spans["initialize", "SERVER"]["parent_id"] == spans["initialize", "CLIENT"]["context"]["span_id"]


async def test_without_a_provider_the_messages_are_the_same(link: Link) -> None:
    async def sent(**options: Any) -> list[bytes]:
        async with calling(link, **options) as (agent, peer):
            calls = [
                asyncio.create_task(agent.session_new(cwd="/work", mcp_servers=[])),
                asyncio.create_task(agent.ext_request("_a")),
                asyncio.create_task(agent.ext_request("_b", {"_meta": {"x": 1}})),
                asyncio.create_task(agent.ext_notification("_c", [1])),
            ]
            lines = [await peer.receive_line() for _ in calls]
            for call in calls:
                call.cancel()
            await asyncio.wait(calls)
        return lines

    assert await sent(instrument=Tracing()) == await sent()


def with_meta(message: dict[str, Any], meta: Any) -> dict[str, Any]:
    return {**message, "params": {**message["params"], "_meta": meta}}


async def test_baggage_reaches_the_handler() -> None:
    seen: list[Any] = []

    class Looking(PlainAgent):
        async def session_prompt(self, request: Any, /) -> Any:
            seen.append(baggage.get_baggage("user"))
            return await super().session_prompt(request)

    async with session(Traced(), Looking) as agent:
        token = context.attach(baggage.set_baggage("user", "ann"))
        await say(agent)
        context.detach(token)
        await say(agent)
    assert seen == ["ann", None]


@pytest.mark.parametrize(
    "meta",
    [
        {"traceparent": "nonsense"},
        {"traceparent": f"00-{TRACE}-{SPAN}"},
        {"traceparent": f"00-{'0' * 32}-{SPAN}-01"},
        {"traceparent": 5},
        {"traceparent": None},
        {"traceparent": [TRACEPARENT]},
        {"traceparent": {"a": TRACEPARENT}},
        {"tracestate": "a=b", "baggage": "=;,%"},
        {"baggage": "a" * 10_000},
        None,
        [],
    ],
    ids=repr,
)
async def test_a_context_that_is_malformed_is_ignored(link: Link, meta: Any) -> None:
    traced = Traced()
    async with serving(link, instrument=traced.instrument) as peer:
        await peer.send(with_meta(prompt(1), meta))
        assert (await peer.receive())["result"] == {"stopReason": "end_turn"}
    assert traced.span("session/prompt", SpanKind.SERVER).parent is None


async def requested(link: Link, request: v1.NewSessionRequest, traced: Traced) -> Any:
    """Return the params of a request as a peer receives them."""
    async with calling(link, instrument=traced.instrument) as (agent, peer):
        with traced.tracer.start_as_current_span("user"):
            token = context.attach(baggage.set_baggage("user", "ann"))
            call = asyncio.create_task(agent.request(request))
            context.detach(token)
        params = await peer.answer(result={"sessionId": "s1"})
        await call
    return params


async def test_meta_of_the_caller_is_kept(link: Link) -> None:
    traced, given = Traced(), {"acme.dev/x": [1], "baggage": "a=b"}
    params = await requested(link, v1.NewSessionRequest(cwd="/work", mcp_servers=[], meta=given), traced)
    meta = params.pop("_meta")
    span = traced.span("session/new", SpanKind.CLIENT)
    assert span.context is not None
    assert meta.pop("traceparent").startswith(f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-")
    assert meta == given
    assert params == {"cwd": "/work", "mcpServers": []}


class OddPropagator(TraceContextTextMapPropagator):
    def inject(self, carrier: Any, context: Any = None, setter: Any = default_setter) -> None:
        super().inject(carrier, context, setter)
        carrier |= {"number": 5, "object": object(), "nothing": None, 5: "text"}


async def test_a_propagator_that_injects_other_values_than_text_does_not_fail_the_call(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    before = propagate.get_global_textmap()
    propagate.set_global_textmap(OddPropagator())
    try:
        params = await requested(link, v1.NewSessionRequest(cwd="/work", mcp_servers=[]), Traced())
    finally:
        propagate.set_global_textmap(before)
    assert set(params["_meta"]) == {"traceparent"}
    assert (
        "TypeError: A propagator has injected values that aren't text: ['number', 'object', 'nothing', 5]"
        in caplog.text
    )


class Ping(Model):
    text: str


class Plain(BaseModel):
    text: str


class Strict(BaseModel, extra="forbid"):
    text: str


PING = ExtRequest("_acme/ping", Ping, Ping)
STRICT = ExtRequest("_acme/strict", Strict, Strict)
NOTE = ExtNotification("_acme/note", Ping)
STRICT_NOTE = ExtNotification("_acme/strict_note", Strict)


class Extended(PlainAgent):
    def __init__(self, client: v1.RemoteClient, notes: dict[str, int]) -> None:
        super().__init__(client)
        self.notes = notes

    @handles(PING)
    async def ping(self, params: Ping) -> Ping:
        return Ping(text=params.text)

    @handles(STRICT)
    async def strict(self, params: Strict) -> Strict:
        return params

    @handles(NOTE)
    async def note(self, params: Ping) -> None:
        self.notes["note"] = get_current_span().get_span_context().span_id

    @handles(STRICT_NOTE)
    async def strict_note(self, params: Strict) -> None:
        self.notes["strict_note"] = get_current_span().get_span_context().span_id

    async def ext_request(self, method: str, params: Any) -> Any:
        return params


async def test_extension_methods_have_spans_and_carry_the_context() -> None:
    traced, notes = Traced(), dict[str, int]()
    async with session(traced, lambda client: Extended(client, notes)) as agent:
        assert await agent.call(PING, Ping(text="hi")) == Ping(text="hi")
        assert set((await agent.ext_request("_raw", {"a": 1}))["_meta"]) == {"traceparent"}
        with traced.tracer.start_as_current_span("user") as user:
            await agent.notify(NOTE, Ping(text="hi"))
            await say(agent)
    for name in ("_acme/ping", "_raw"):
        assert parent(traced.span(name, SpanKind.SERVER)) == span_id(traced.span(name, SpanKind.CLIENT))
    assert notes == {"note": user.get_span_context().span_id}
