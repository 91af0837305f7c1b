"""A client that goes on when the process at the other end dies: it connects again and loads the session.

    python client.py URL PROMPT...

It shows the conversation so far after each connection. A prompt that the agent hasn't got when the connection is lost
is sent again, one that it has got isn't.
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
from acp_runtime import ConnectionClosed, RemoteError


class PrintingClient(UpdateHandlers, PermissionHandlers, v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.agent = agent
        self.permissions = PermissionPolicy()  # rejects everything


def is_of_transport(error: RemoteError) -> bool:
    """Whether a request failed on its way, over HTTP: HAProxy answered it with 502 or 503, or a stream broke."""
    data: object = error.data
    return isinstance(data, dict) and "status" in data


async def use_session(url: str, use: Callable[[ClientSession], Awaitable[None]]) -> None:
    """Use a new session. Whenever the connection is lost, load the session again, and use it again."""
    session_id, delay, clock = None, 0.0, asyncio.get_running_loop().time
    while True:
        started = clock()
        try:
            async with v1.connect(PrintingClient, await open_transport(url)) as agent:
                initialized = await agent.initialize(protocol_version=1)
                if initialized.agent_info:
                    print(f"[connected to {initialized.agent_info.title}]", flush=True)
                async with open_session(agent, cwd=Path.cwd(), load=session_id) as session:
                    session_id = session.id
                    return await use(session)
        except ConnectionClosed as error:
            print(f"\n[connection lost: {error}]", flush=True)
        except RemoteError as error:
            if not is_of_transport(error):
                raise
            print(f"\n[connection lost: {error}]", flush=True)
        delay = 0.0 if clock() - started > 10 else min(2 * delay + 0.1, 5.0)
        await asyncio.sleep(delay)


async def converse(url: str, prompts: list[str]) -> None:
    async def use(session: ClientSession) -> None:
        for message in session.state.messages:
            print(f"{message.role}: {message.text}")
        # The agent records a prompt before it acts on it. So its history says how many it has got.
        taken = sum(message.role == "user" for message in session.state.messages)
        for prompt in prompts[taken:]:
            print(f"> {prompt}", flush=True)
            try:
                async with session.prompt(prompt) as turn:
                    async for update in turn:
                        if isinstance(update, v1.SessionUpdateAgentMessageChunk):
                            print(to_text([update.content]), end="", flush=True)
            except RemoteError as error:
                if is_of_transport(error):
                    raise
                print(f"\n[the agent failed: {error}]", flush=True)
            else:
                print(f"\n[{turn.stop_reason}]", flush=True)

    await use_session(url, use)


if __name__ == "__main__":
    try:
        asyncio.run(converse(sys.argv[1], sys.argv[2:]))
    except RemoteError as error:
        sys.exit(f"The agent answered with an error: {error}")
