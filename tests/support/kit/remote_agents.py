"""Agents that tests serve to remote clients."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from acp_bindings import v1
from acp_runtime.transports import Transport
from tests.support.runtime.peer import PlainAgent, chunk, line


class EchoAgent(PlainAgent):
    """Names sessions `s1`, `s2`, …, and repeats each prompt. A load replays ten updates."""

    def __init__(self, client: v1.RemoteClient) -> None:
        super().__init__(client)
        self.sessions = 0

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        capabilities = v1.AgentCapabilities(load_session=True)
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=capabilities)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        self.sessions += 1
        return v1.NewSessionResponse(session_id=f"s{self.sessions}")

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        for number in range(10):
            await self.say(request.session_id, str(number))
        return v1.LoadSessionResponse()

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        for block in request.prompt:
            await self.say(request.session_id, block.text if isinstance(block, v1.ContentBlockText) else "")
        return v1.PromptResponse(stop_reason="end_turn")

    async def say(self, session: str, text: str) -> None:
        await self.client.session_update(session_id=session, update=chunk(text))


async def echo(transport: Transport, _: Any) -> None:
    await v1.serve(EchoAgent, transport)


class RawAgent:
    """Answers `initialize`. Then the test sends and receives whole messages.

    Attributes:
        ended: set when the connection has ended.
        error: what sending raised.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.ended = asyncio.Event()
        self.error: str | None = None

    async def say(self, *messages: Any) -> None:
        """Send messages. Remember what that raises."""
        try:
            for message in messages:
                await self.transport.send(line(message))
        except Exception as error:
            self.error = repr(error)  # the error itself would keep the transport

    async def update(self, session: str, text: str = "") -> None:
        await self.say({"method": "session/update", "params": {"sessionId": session, "text": text}})

    async def next(self) -> Any:
        """Return the next message of the client; None at the end."""
        line = await self.transport.receive()
        return json.loads(line) if line else None


def raw_agents() -> tuple[Callable[[Transport, Any], Awaitable[None]], asyncio.Queue[RawAgent]]:
    """Return a function that serves, and the agents of the connections. Their `ended` ends the serving."""
    agents = asyncio.Queue[RawAgent]()

    async def serve(transport: Transport, _: Any) -> None:
        agent = RawAgent(transport)
        try:
            opening = await agent.next()
            await agent.say({"id": opening["id"], "result": {"protocolVersion": 1}})
            agents.put_nowait(agent)
            await agent.ended.wait()
        finally:
            del agent.transport  # the test may keep the agent, but not what the server has
            await transport.close()

    return serve, agents
