"""An agent and a client whose spans stay in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, Tracer

from acp_bindings import v1
from acp_kit.telemetry import Tracing
from acp_runtime import Options
from tests.support.runtime.peer import PlainClient


class Traced:
    """A tracer whose spans stay in memory."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer: Tracer = self.provider.get_tracer("test")
        self.instrument = Tracing(self.provider)
        self.options = Options(instrument=self.instrument)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def span(self, name: str, kind: SpanKind) -> ReadableSpan:
        """Return the only span with this name and kind."""
        (only,) = [span for span in self.spans if span.name == name and span.kind is kind]
        return only


@asynccontextmanager
async def session(
    traced: Traced, agent: Callable[[Any], Any], client: Callable[[Any], Any] = PlainClient
) -> AsyncIterator[v1.RemoteAgent]:
    """Connect an agent and a client, both traced, and open the session s1."""
    async with v1.connect_in_process(agent, client, options=traced.options) as remote:
        await remote.initialize(protocol_version=1)
        await remote.session_new(cwd="/work", mcp_servers=[])
        yield remote


async def say(agent: v1.RemoteAgent, text: str = "hi") -> v1.PromptResponse:
    return await agent.session_prompt(session_id="s1", prompt=[v1.ContentBlockText(text=text)])


def parent(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None


def span_id(span: ReadableSpan) -> int:
    assert span.context is not None
    return span.context.span_id
