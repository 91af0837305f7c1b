"""Calls and handlers are spans with their method and outcome, and without any content of messages."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.trace import SpanKind, StatusCode

from acp_bindings import v1
from acp_runtime import RemoteError, ResourceNotFound
from tests.kit.traced import Traced, say, session
from tests.support.programs import output_of
from tests.support.runtime.peer import Link, PlainAgent, calling, chunk

SECRET = "s3cret"


async def test_a_span_says_which_call_it_is_of() -> None:
    traced = Traced()
    async with session(traced, PlainAgent) as agent:
        await say(agent)
    for kind in (SpanKind.CLIENT, SpanKind.SERVER):
        span = traced.span("session/prompt", kind)
        assert span.attributes == {
            "rpc.system.name": "jsonrpc",
            "rpc.method": "session/prompt",
            "jsonrpc.protocol.version": "2.0",
            "jsonrpc.request.id": "2",
            "acp.session.id": "s1",
        }
        assert span.status.status_code is StatusCode.UNSET
        assert "acp.session.id" not in (traced.span("initialize", kind).attributes or {})


class Broken(SpanProcessor):
    """A span processor that fails when a span starts, or when it ends."""

    def __init__(self, when: str) -> None:
        self._when = when

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        if self._when == "start":
            raise OSError("no disk")

    def on_end(self, span: Any) -> None:
        if self._when == "end":
            raise OSError("no disk")


class Failing(PlainAgent):
    """An agent whose turns fail with `error`."""

    error: BaseException = ResourceNotFound(SECRET, data={"path": SECRET})

    async def session_prompt(self, request: Any, /) -> Any:
        raise self.error


@pytest.mark.parametrize(
    ("error", "code", "theirs", "ours"),
    [
        (ResourceNotFound(SECRET, data=SECRET), "-32002", "ResourceNotFound", "RemoteResourceNotFound"),
        (KeyError(SECRET), "-32603", "KeyError", "RemoteInternalError"),
        (RemoteError(5, SECRET), "-32603", "RemoteError", "RemoteInternalError"),
        (ExceptionGroup(SECRET, [ResourceNotFound(SECRET)]), "-32002", "ResourceNotFound", "RemoteResourceNotFound"),
    ],
    ids=["an error of its own", "an unexpected one", "an error of a peer", "one in a task group"],
)
async def test_an_error_is_the_status_of_both_spans_without_its_text(
    error: BaseException, code: str, theirs: str, ours: str
) -> None:
    traced = Traced()
    failing = type("FailingAgent", (Failing,), {"error": error})
    async with session(traced, failing) as agent:
        with pytest.raises(RemoteError):
            await say(agent, SECRET)
    for kind, description in ((SpanKind.SERVER, theirs), (SpanKind.CLIENT, ours)):
        span = traced.span("session/prompt", kind)
        attributes = span.attributes or {}
        assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, description)
        assert (attributes["error.type"], attributes["rpc.response.status_code"]) == (code, code)
    assert all(SECRET not in span.to_json() and not span.events for span in traced.spans)


async def test_a_call_without_a_response_has_the_exception_as_its_error(link: Link) -> None:
    traced = Traced()
    async with calling(link, instrument=traced.instrument) as (agent, peer):
        call = asyncio.create_task(agent.ext_request("_ping"))
        await peer.receive()
        await peer.end()
        with suppress(Exception):
            await call
    span = traced.span("_ping", SpanKind.CLIENT)
    attributes = span.attributes or {}
    assert (span.status.status_code, attributes["error.type"]) == (StatusCode.ERROR, "ConnectionClosed")
    assert "rpc.response.status_code" not in attributes


async def test_no_content_of_a_message_is_in_a_span() -> None:
    traced = Traced()

    class Chatty(PlainAgent):
        async def session_prompt(self, request: Any, /) -> Any:
            await self.client.session_update(session_id="s1", update=chunk(SECRET))
            tool = v1.ToolCallUpdate(tool_call_id=SECRET, title=SECRET, raw_input={"key": SECRET})
            option = v1.PermissionOption(option_id="yes", name=SECRET, kind="allow_once")
            await self.client.session_request_permission(session_id="s1", tool_call=tool, options=[option])
            return v1.PromptResponse(stop_reason="end_turn", meta={"secret": SECRET})

    async with session(traced, Chatty) as agent:
        await agent.session_prompt(session_id="s1", prompt=[v1.ContentBlockText(text=SECRET)], meta={"secret": SECRET})
        with suppress(RemoteError):
            await agent.ext_request("_ping", {"text": SECRET})
    assert len(traced.spans) == 10
    assert all(SECRET not in span.to_json() for span in traced.spans)


def waiting() -> tuple[type[PlainAgent], asyncio.Event]:
    """Return an agent whose turn ends only when it is cancelled, and the event that is set when it has begun."""
    started = asyncio.Event()

    class Waiting(PlainAgent):
        async def session_prompt(self, request: Any, /) -> Any:
            started.set()
            await asyncio.Event().wait()

    return Waiting, started


async def test_a_turn_that_is_cancelled_is_no_error() -> None:
    traced, (agent_class, started) = Traced(), waiting()
    async with session(traced, agent_class) as agent:
        call = asyncio.create_task(say(agent))
        await started.wait()
        await agent.session_cancel(session_id="s1")
        assert (await call).stop_reason == "cancelled"
    for kind, is_cancelled in ((SpanKind.SERVER, True), (SpanKind.CLIENT, None)):
        span = traced.span("session/prompt", kind)
        result = span.status.status_code, (span.attributes or {}).get("acp.cancelled")
        assert result == (StatusCode.UNSET, is_cancelled)


def test_a_provider_that_the_application_sets_later_is_used() -> None:
    program = """
from acp_kit.telemetry import Tracing
from acp_runtime import InstrumentedMessage
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import get_current_span, set_tracer_provider

tracing, message = Tracing(), InstrumentedMessage("in", "session/list", None, 1, None, {})
with tracing(message):
    print(get_current_span().is_recording())
set_tracer_provider(TracerProvider())
with tracing(message):
    print(get_current_span().is_recording())
"""
    assert output_of(program) == "False\nTrue"
