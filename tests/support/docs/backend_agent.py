"""The agent behind the backend of docs/guides/backends.md: it asks, hangs or dies when it is told to.

It keeps its sessions in a database in the folder that it was started in.
"""

from __future__ import annotations

import asyncio
import os

from acp_bindings import v1
from acp_kit.agent import Sessions
from acp_kit.content import to_text
from acp_kit.history import HistoryStore, SqlHistory, replay


class ObedientAgent(v1.Agent):
    """Says what it was told, after doing it."""

    def __init__(self, client: v1.RemoteClient, history: HistoryStore) -> None:
        self.client = client
        self.history = history
        self.sessions = Sessions(record=history.append)

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        capabilities = v1.AgentCapabilities(load_session=True)
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=capabilities)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        session = self.sessions.create(self.client, cwd=request.cwd)
        await self.history.create(session.id, cwd=request.cwd)
        return v1.NewSessionResponse(session_id=session.id)

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        await replay(self.history, request.session_id, self.client)
        self.sessions.create(self.client, cwd=request.cwd, session_id=request.session_id)
        return v1.LoadSessionResponse()

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        prompt = to_text(request.prompt)
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            if prompt == "die":
                os._exit(3)
            if prompt == "ask":
                async with turn.tool_call("Ask") as call:
                    await call.ask()
                prompt = "rejected" if call.rejected else "allowed"
            await turn.say(prompt)
            if prompt == "hang":
                await asyncio.Event().wait()
        return turn.response


async def main() -> None:
    async with SqlHistory("history.db") as history:
        await v1.serve_stdio(lambda client: ObedientAgent(client, history))


if __name__ == "__main__":
    asyncio.run(main())
