"""An agent that runs in several processes behind a load balancer. Its sessions are in PostgreSQL, so any can go on.

    HISTORY=postgresql+asyncpg://localhost/agents python agent.py 8001

`count 5` counts five further numbers, from where the conversation stopped in whichever process that was.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from acp_bindings import v1
from acp_kit.agent import Sessions
from acp_kit.content import to_text
from acp_kit.history import SqlHistory, replay
from acp_kit.remote import agent_app, run
from acp_runtime.transports import Transport

history = SqlHistory(os.environ["HISTORY"])


class CountingAgent(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client
        self.sessions = Sessions(record=history.append)

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(
            protocol_version=1,
            agent_capabilities=v1.AgentCapabilities(load_session=True),
            agent_info=v1.Implementation(name="counting-agent", title=f"process {os.getpid()}", version="1"),
        )

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        session = self.sessions.create(self.client, cwd=request.cwd)
        await history.create(session.id, cwd=request.cwd)
        return v1.NewSessionResponse(session_id=session.id)

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        await replay(history, request.session_id, self.client)
        self.sessions.create(self.client, cwd=request.cwd, session_id=request.session_id)
        return v1.LoadSessionResponse()

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        # The turn records the prompt, which waits until an earlier process has written its last update or has given up.
        # So read the conversation after that.
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            first = await self.last_number(request.session_id) + 1
            how_many = int(to_text(request.prompt).removeprefix("count "))
            for number in range(first, first + how_many):
                await turn.say(f"{number} ")
        return turn.response

    async def last_number(self, session_id: str) -> int:
        last = 0
        async for update in history.read(session_id):
            if isinstance(update, v1.SessionUpdateAgentMessageChunk):
                last = int(to_text([update.content]).split()[-1])
        return last


async def serve(transport: Transport, _: None) -> None:
    await v1.serve(CountingAgent, transport)


# Everybody may use it, as localhost. For others, pass `authenticate` and `hosts`.
app = agent_app(serve)

if __name__ == "__main__":
    address = sys.argv[1]  # a port, or the path of a socket
    options: dict[str, Any] = {"port": int(address)} if address.isdigit() else {"uds": address}
    run(app, log_level="info", **options)
