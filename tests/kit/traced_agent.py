"""An agent in a process of its own that traces: `python -m tests.kit.traced_agent <file>`.

It asks for permission and sends an update in each turn. It writes each span that ends to the file, as JSON.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.trace import set_tracer_provider

from acp_bindings import v1
from acp_kit.telemetry import Tracing
from acp_runtime import Options
from tests.support.runtime.peer import PlainAgent, chunk


class AskingAgent(PlainAgent):
    async def session_prompt(self, request: v1.PromptRequest, /) -> v1.PromptResponse:
        await self.client.session_update(session_id="s1", update=chunk("hi"))
        tool = v1.ToolCallUpdate(tool_call_id="1")
        await self.client.session_request_permission(session_id="s1", tool_call=tool, options=[])
        return v1.PromptResponse(stop_reason="end_turn")


def main(path: str) -> None:
    with Path(path).open("w") as file:
        exporter = ConsoleSpanExporter(out=file, formatter=lambda span: span.to_json(indent=None) + "\n")
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        set_tracer_provider(provider)
        asyncio.run(v1.serve_stdio(AskingAgent, options=Options(instrument=Tracing())))


if __name__ == "__main__":
    main(*sys.argv[1:])
