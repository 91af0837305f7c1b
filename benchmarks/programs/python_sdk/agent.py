"""The agent, written with the official Python SDK. It does the same as `programs/ours/agent.py`."""

from __future__ import annotations

import asyncio
from typing import Any

import acp


def text_of(size: int) -> str:
    """Return this many characters of ordinary lines."""
    line = "a line of an ordinary file, with its end\n"
    return (line * (size // len(line) + 1))[:size]


class StreamingAgent(acp.Agent):
    client: acp.Client
    sessions = 0

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **params: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **params: Any) -> acp.NewSessionResponse:
        self.sessions += 1
        return acp.NewSessionResponse(session_id=f"8f14e45f-ceea-467f-a0d1-{self.sessions:012}")

    async def prompt(self, session_id: str, prompt: list[Any], **params: Any) -> acp.PromptResponse:
        count, size = map(int, prompt[0].text.split())
        text = text_of(size)
        for _ in range(count):
            await self.client.session_update(session_id, acp.update_agent_message_text(text))
        return acp.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    asyncio.run(acp.run_agent(StreamingAgent()))
