"""An agent for any profile: `python -m tests.support.stress.any_profile <profile>`."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from typing import Any


def agent_of(acp: Any) -> Any:
    """Return an agent class that sends one update per prompt and then waits for the cancellation of the turn."""
    first = acp.PROTOCOL_VERSION == 1

    class Streaming(acp.Agent):  # type: ignore[misc]
        def __init__(self, client: Any) -> None:
            self.client = client

        async def initialize(self, request: Any, /) -> Any:
            if first:
                return acp.InitializeResponse(protocol_version=1)
            info = acp.Implementation(name="any", version="1")
            capabilities = acp.AgentCapabilities(session=acp.SessionCapabilities())
            return acp.InitializeResponse(protocol_version=2, info=info, capabilities=capabilities)

        async def session_new(self, request: Any, /) -> Any:
            return acp.NewSessionResponse(session_id="s1")

        async def session_prompt(self, request: Any, /) -> Any:
            message = {} if first else {"message_id": "m1"}
            content = acp.ContentBlockText(text="working")
            update = acp.SessionUpdateAgentMessageChunk(content=content, **message)
            await self.client.session_update(session_id=request.session_id, update=update)
            if first:
                await asyncio.Event().wait()
            return acp.PromptResponse(message_id="m0")

        async def session_cancel(self, notification: Any, /) -> None:
            await super().session_cancel(notification)
            if not first:
                idle = acp.SessionUpdateStateUpdateIdleCancelled()
                await self.client.session_update(session_id=notification.session_id, update=idle)

    return Streaming


if __name__ == "__main__":
    profile = import_module(f"acp_bindings.{sys.argv[1]}")
    asyncio.run(profile.serve_stdio(agent_of(profile)))
