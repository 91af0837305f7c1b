"""An agent in a process of its own that traces: `python -m tests.support.kit.traced_agent <file>`.

It asks for permission and sends an update in each turn. At the end it writes its spans to the file, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_span_id, set_tracer_provider

from acp_bindings import v1
from acp_kit.telemetry import Tracing
from acp_runtime import Options
from tests.support.kit.traced import Traced
from tests.support.runtime.peer import PlainAgent, chunk


def described(span: ReadableSpan) -> dict[str, Any]:
    """Return what tests compare of a span."""
    context: Any = span.context
    return {
        "id": format_span_id(context.span_id),
        "parent": span.parent and format_span_id(span.parent.span_id),
        "name": span.name,
        "kind": span.kind.name,
        "session": (span.attributes or {}).get("acp.session.id"),
        "trace": context.trace_id,
    }


class AskingAgent(PlainAgent):
    async def session_prompt(self, request: v1.PromptRequest, /) -> v1.PromptResponse:
        await self.client.session_update(session_id="s1", update=chunk("hi"))
        tool = v1.ToolCallUpdate(tool_call_id="1")
        await self.client.session_request_permission(session_id="s1", tool_call=tool, options=[])
        return v1.PromptResponse(stop_reason="end_turn")


def main(file: str) -> None:
    traced = Traced()
    set_tracer_provider(traced.provider)
    asyncio.run(v1.serve_stdio(AskingAgent, options=Options(instrument=Tracing())))
    Path(file).write_text(json.dumps([described(span) for span in traced.spans]))


if __name__ == "__main__":
    main(*sys.argv[1:])
