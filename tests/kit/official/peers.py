"""An agent and a client with the official classes, connected in one process by our connections."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from acp import Agent, Client, text_block, update_agent_message_text
from acp.schema import (
    AcceptElicitationResponse,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    SetSessionConfigOptionResponse,
)

from acp_kit import official


class Echo(Agent):
    """Sends the text of a prompt back."""

    def __init__(self) -> None:
        self.got: list[Any] = []
        self.block = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, mcp_servers: Any = None, **meta: Any) -> NewSessionResponse:
        self.got.append((cwd, mcp_servers, meta.get("trace")))
        return NewSessionResponse(session_id="s")

    async def set_config_option(self, config_id: str, session_id: str, value: Any, **_: Any) -> Any:
        self.got.append(value)
        return SetSessionConfigOptionResponse(config_options=[])

    async def prompt(self, prompt: Any, session_id: str, **_: Any) -> PromptResponse:
        text = prompt[0].text
        if text == "fail":
            raise ValueError('{"reason": [1]}')
        if text == "wait":
            await self.block.wait()
        await self.client.session_update(session_id, update_agent_message_text(text))
        return PromptResponse(stop_reason="end_turn")

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {method: InitializeResponse(protocol_version=1) if method == "acme/model" else params}


class Screen(Client):
    """Keeps the texts that it receives."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.texts.append(update.content.text)

    async def create_elicitation(self, message: str, mode: Any, **meta: Any) -> AcceptElicitationResponse:
        return AcceptElicitationResponse(action="accept", content={"message": message, "meta": str(meta)})


@asynccontextmanager
async def streams() -> AsyncGenerator[tuple[Any, Any, Any, Any]]:
    """Yield the writer and the reader of both ends of a socket."""
    left, right = socket.socketpair()
    left_reader, left_writer = await asyncio.open_connection(sock=left)
    right_reader, right_writer = await asyncio.open_connection(sock=right)
    try:
        yield left_writer, left_reader, right_writer, right_reader
    finally:
        for writer in (left_writer, right_writer):
            writer.close()
            await writer.wait_closed()


@asynccontextmanager
async def connected(client: Any, agent: Any, **options: Any) -> AsyncGenerator[Any]:
    async with (
        streams() as (writer, reader, agent_writer, agent_reader),
        official.AgentSideConnection(agent, agent_writer, agent_reader, use_unstable_protocol=True),
        official.ClientSideConnection(client, writer, reader, use_unstable_protocol=True, **options) as connection,
    ):
        await connection.initialize(protocol_version=1)
        yield connection


async def ask(connection: Any, text: str) -> Any:
    return await connection.prompt(session_id="s", prompt=[text_block(text)])
