"""A local endpoint with Anthropic's Messages API, whose answers the test writes."""

from __future__ import annotations

import json
from typing import Any

from tests.support.kit.model_server import ModelOutput, ModelServer, halves, words


class AnthropicServer(ModelServer):
    """Streams the next of `answers` for each request, in Anthropic's events."""

    def _first_events(self, answer: ModelOutput) -> list[bytes]:
        message = {"id": f"msg_{len(self.requests)}", "type": "message", "role": "assistant", "model": "m"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        empty = {"content": [], "stop_reason": None, "stop_sequence": None}
        events = [_event("message_start", message={**message, **empty, "usage": usage})]
        if isinstance(answer, str):
            deltas = [{"type": "text_delta", "text": word} for word in words(answer)]
            return events + _block(0, {"type": "text", "text": ""}, deltas)
        for index, (name, arguments) in enumerate(answer):
            block = {"type": "tool_use", "id": f"toolu_{len(self.requests)}_{index}", "name": name, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in halves(arguments)]
            events += _block(index, block, deltas)
        return events

    def _last_events(self, answer: ModelOutput) -> list[bytes]:
        reason = "end_turn" if isinstance(answer, str) else "tool_use"
        delta = {"stop_reason": reason, "stop_sequence": None}
        return [_event("message_delta", delta=delta, usage={"output_tokens": 1}), _event("message_stop")]


def _block(index: int, block: dict[str, Any], deltas: list[dict[str, Any]]) -> list[bytes]:
    return [
        _event("content_block_start", index=index, content_block=block),
        *(_event("content_block_delta", index=index, delta=delta) for delta in deltas),
        _event("content_block_stop", index=index),
    ]


def _event(name: str, **data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
