"""An agent for the official SDK: `agent.py acp|acp_kit.official`. It sends as many updates as a prompt says."""

from __future__ import annotations

import asyncio
import sys
import time
from importlib import import_module
from typing import Any

from acp import update_agent_message_text
from acp.schema import InitializeResponse, NewSessionResponse, PromptResponse


class Sender:
    """Returns the CPU seconds that sending took, as `_meta` of its response."""

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, **_: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id="s")

    async def prompt(self, prompt: Any, session_id: str, **_: Any) -> PromptResponse:
        start = time.process_time()
        for number in range(int(prompt[0].text)):
            await self.client.session_update(session_id, update_agent_message_text(f"chunk {number} of some text"))
        return PromptResponse(stop_reason="end_turn", field_meta={"cpu": time.process_time() - start})


asyncio.run(import_module(sys.argv[1]).run_agent(Sender()))
