"""`turn.py <count>`: an agent sends this many chunks with `Turn.say` and with `session_update`.

The peer only reads. Prints the time of this thread's CPU for `say`, and its ratio to that of `session_update`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

from acp_bindings.v1 import (
    Agent,
    ContentBlockText,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteClient,
    SessionUpdateAgentMessageChunk,
    serve_streams,
)
from acp_kit.agent import Sessions

TEXT = "a word and another, as models send "
ROUNDS = 4
MESSAGES: list[tuple[str, dict[str, Any]]] = [
    ("initialize", {"protocolVersion": 1}),
    ("session/new", {"cwd": "/", "mcpServers": []}),
    ("session/prompt", {"sessionId": "s", "prompt": []}),
]


class SayingAgent(Agent):
    def __init__(self, client: RemoteClient, count: int) -> None:
        self.client = client
        self.count = count
        self.sessions = Sessions()

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(protocol_version=1)

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        self.sessions.create(self.client, cwd=request.cwd, session_id="s")
        return NewSessionResponse(session_id="s")

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        async def update(text: str) -> None:
            chunk = SessionUpdateAgentMessageChunk(content=ContentBlockText(text=text))
            await self.client.session_update(session_id="s", update=chunk)

        spent = {"update": 0.0, "say": 0.0}
        async with self.sessions["s"].turn() as turn:
            await timed(update, 100)
            await timed(turn.say, 100)
            for _ in range(ROUNDS):
                spent["update"] += await timed(update, self.count // ROUNDS)
                spent["say"] += await timed(turn.say, self.count // ROUNDS)
        print(json.dumps({"seconds": spent["say"], "ratio": spent["say"] / spent["update"]}))
        return turn.response


async def timed(send: Callable[[str], Awaitable[None]], count: int) -> float:
    """Return the time of sending, in seconds of this thread's CPU."""
    gc.collect()
    started = time.thread_time()
    for _ in range(count):
        await send(TEXT)
    return time.thread_time() - started


def peer(connection: socket.socket) -> None:
    """Send the requests, and read until the agent has answered the last one."""
    for number, (method, params) in enumerate(MESSAGES):
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        connection.sendall(json.dumps(request).encode() + b"\n")
        end = f'"id":{number}'.encode()
        while end not in connection.recv(2**20):
            pass
    connection.close()


async def main(count: int) -> None:
    here, there = socket.socketpair()
    thread = threading.Thread(target=peer, args=(there,))
    thread.start()
    reader, writer = await asyncio.open_connection(sock=here)
    await serve_streams(lambda client: SayingAgent(client, count), reader, writer)
    thread.join()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
