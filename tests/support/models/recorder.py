"""A channel for proxies that only records their messages."""

from __future__ import annotations

from typing import Any

from acp_bindings.v1 import PromptResponse, ReadTextFileResponse

_RESULTS = {"fs/read_text_file": ReadTextFileResponse(content="")}


class Recorder:
    """Records the params of requests and notifications. Answers every request at once."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(name)

    async def request(self, method: Any, params: Any) -> Any:
        self.sent.append(params)
        return _RESULTS.get(method.wire, PromptResponse(stop_reason="end_turn"))

    async def notify(self, method: Any, params: Any) -> None:
        self.sent.append(params)
