"""Proxies take any sequence where a request holds a list, as their annotations say."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest

from acp_bindings.v1 import ContentBlock, ContentBlockText, PromptRequest, PromptResponse, RemoteAgent

BLOCKS = [ContentBlockText(text="a"), ContentBlockText(text="b")]


class Recorder:
    """A channel that keeps the params of requests."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    async def request(self, method: Any, params: Any) -> Any:
        self.sent.append(params)
        return PromptResponse(stop_reason="end_turn")

    async def notify(self, method: Any, params: Any) -> None:
        raise NotImplementedError

    async def ext_request(self, method: str, params: Any) -> Any:
        raise NotImplementedError

    async def ext_notification(self, method: str, params: Any) -> None:
        raise NotImplementedError


@pytest.mark.parametrize("prompt", [BLOCKS, tuple(BLOCKS), deque(BLOCKS)], ids=["list", "tuple", "deque"])
def test_any_sequence_becomes_the_list_of_the_request(prompt: Sequence[ContentBlock]) -> None:
    channel = Recorder()
    asyncio.run(RemoteAgent(channel).session_prompt(session_id="1", prompt=prompt))
    assert channel.sent == [PromptRequest(session_id="1", prompt=list(BLOCKS))]
