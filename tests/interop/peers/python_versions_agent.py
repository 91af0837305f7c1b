"""An agent of the versions 1 and 2 of the protocol, with the router of the Python SDK (1.0.0rc3).

Argument: the versions it has: `1`, `2` or `1,2`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from acp import schema
from acp.experimental import AgentProtocolRouter, v2

INFO = {"name": "python", "version": "1"}


class One:
    def __init__(self, client: Any) -> None:
        self.client = client

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(protocol_version=1, agent_info=schema.Implementation.model_validate(INFO))

    async def new_session(self, **_: Any) -> schema.NewSessionResponse:
        return schema.NewSessionResponse(session_id="new")

    async def prompt(self, session_id: str, prompt: Any, **_: Any) -> schema.PromptResponse:
        update = schema.AgentMessageChunk(session_update="agent_message_chunk", content=prompt[0])
        await self.client.session_update(session_id=session_id, update=update)
        return schema.PromptResponse(stop_reason="end_turn")


class Two:
    def __init__(self, client: Any) -> None:
        self.client = client

    async def initialize(self, protocol_version: int, **_: Any) -> v2.schema.InitializeResponse:
        answer = {"protocolVersion": 2, "info": INFO, "capabilities": {"session": {}}}
        return v2.schema.InitializeResponse.model_validate(answer)

    async def new_session(self, **_: Any) -> v2.schema.NewSessionResponse:
        return v2.schema.NewSessionResponse(session_id="new")

    async def prompt(self, session_id: str, prompt: Any, **_: Any) -> v2.schema.PromptResponse:
        update = v2.schema.AgentMessageChunk(session_update="agent_message_chunk", message_id="m", content=prompt[0])
        await self.client.session_update(session_id=session_id, update=update)
        return v2.schema.PromptResponse(message_id="m")


def router(versions: str) -> AgentProtocolRouter:
    """Return the router of an agent with some versions."""
    return AgentProtocolRouter(v1=One if "1" in versions else None, v2=Two if "2" in versions else None)


if __name__ == "__main__":
    asyncio.run(router(sys.argv[1]).run())
