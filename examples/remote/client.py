"""A client that goes on when the process at the other end dies: it connects again and loads the session.

    python client.py URL PROMPT...

It shows the conversation so far after each connection, and sends each prompt once.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from acp_bindings import v1
from acp_kit.client import ClientSession, PermissionHandlers, PermissionPolicy, UpdateHandlers, open_session
from acp_kit.content import to_text
from acp_kit.remote import open_transport
from acp_runtime import ConnectionClosed, InternalError


class PrintingClient(UpdateHandlers, PermissionHandlers, v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.agent = agent
        self.permissions = PermissionPolicy()  # rejects everything


async def use_session(url: str, use: Callable[[ClientSession], Awaitable[None]]) -> None:
    """Use a new session. Whenever the connection is lost, load the session again, and use it again."""
    session_id, delay = None, 0.0
    while True:
        try:
            async with v1.connect(PrintingClient, await open_transport(url)) as agent:
                initialized = await agent.initialize(protocol_version=1)
                if initialized.agent_info:
                    print(f"[connected to {initialized.agent_info.title}]", flush=True)
                async with open_session(agent, cwd=Path.cwd(), load=session_id) as session:
                    session_id, delay = session.id, 0.0
                    return await use(session)
        except (ConnectionClosed, OSError, InternalError) as error:  # the last: HAProxy's 502 or 503, over HTTP
            print(f"\n[connection lost: {error}]", flush=True)
        await asyncio.sleep(delay)
        delay = min(2 * delay + 0.1, 5.0)


async def converse(url: str, prompts: list[str]) -> None:
    async def use(session: ClientSession) -> None:
        for message in session.state.messages:
            print(f"{message.role}: {message.text}")
        while prompts:
            # Removed before it is sent: the agent may have acted on a prompt whose answer was lost.
            prompt = prompts.pop(0)
            print(f"> {prompt}", flush=True)
            async with session.prompt(prompt) as turn:
                async for update in turn:
                    if isinstance(update, v1.SessionUpdateAgentMessageChunk):
                        print(to_text([update.content]), end="", flush=True)
            print(f"\n[{turn.stop_reason}]", flush=True)

    await use_session(url, use)


if __name__ == "__main__":
    asyncio.run(converse(sys.argv[1], sys.argv[2:]))
