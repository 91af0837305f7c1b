"""`as_v2.py updates <count>`: an agent of version 1 sends this many chunks to a client that only reads.

Prints the time of this thread's CPU with `as_v2` and a client of version 2, and its ratio to that of version 1 alone.

`as_v2.py start`: such an agent is started. Prints the time until the response to `initialize` of version 2, and its
ratio to that of version 1.
"""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import subprocess
import sys
import threading
import time
from typing import Any

import acp_bindings
from acp_bindings import v1, v2_draft
from acp_kit.versions import as_v2

TEXT = "a word and another, as models send "
ROUNDS = 4
INFO = {"name": "client", "version": "1"}
# `initialize`, and how the last message of a turn begins.
VERSIONS = {
    1: ({"protocolVersion": 1}, b'"stopReason"'),
    2: ({"protocolVersion": 2, "info": INFO, "capabilities": {}}, b'"idle"'),
}


class SendingAgent(v1.Agent):
    count = 0
    started = 0.0

    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id="s")

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        gc.collect()
        SendingAgent.started = time.thread_time()
        for _ in range(self.count):
            chunk = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=TEXT))
            await self.client.session_update(session_id="s", update=chunk)
        return v1.PromptResponse(stop_reason="end_turn")


def line(id: int, method: str, params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


def read_turn(connection: socket.socket, version: int) -> None:
    """Send the requests, and read until the turn ends."""
    initialize, end = VERSIONS[version]
    requests: list[tuple[str, Any]] = [
        ("initialize", initialize),
        ("session/new", {"cwd": "/", "mcpServers": []}),
        ("session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": "hi"}]}),
    ]
    for id, (method, params) in enumerate(requests):
        connection.sendall(line(id, method, params))
        last, received = end if method == "session/prompt" else f'"id":{id}'.encode(), b""
        while last not in received:
            received = received[-20:] + connection.recv(2**20)
    connection.close()


async def spent(version: int) -> float:
    """Return the time of a turn, in seconds of this thread's CPU."""
    here, there = socket.socketpair()
    thread = threading.Thread(target=read_turn, args=(there, version), daemon=True)
    thread.start()
    reader, writer = await asyncio.open_connection(sock=here)
    if version == 1:
        await v1.serve_streams(SendingAgent, reader, writer)
    else:
        await v2_draft.serve_streams(as_v2(SendingAgent), reader, writer)
    ended = time.thread_time()
    thread.join()
    return ended - SendingAgent.started


async def updates(count: int) -> None:
    SendingAgent.count = 100
    for version in VERSIONS:
        await spent(version)
    seconds = {1: 0.0, 2: 0.0}
    SendingAgent.count = count // ROUNDS
    for _ in range(ROUNDS):
        for version in VERSIONS:
            seconds[version] += await spent(version)
    print(json.dumps({"seconds": seconds[2], "ratio": seconds[2] / seconds[1]}))


def started(version: int) -> float:
    """Return the time until an agent has answered `initialize`, in seconds."""
    begun = time.perf_counter()
    with subprocess.Popen([sys.executable, __file__, "agent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(line(0, "initialize", VERSIONS[version][0]))
        agent.stdin.flush()
        agent.stdout.readline()
        return time.perf_counter() - begun


def main(task: str, count: int) -> None:
    if task == "agent":
        asyncio.run(acp_bindings.serve_stdio(v1=SendingAgent, v2_draft=as_v2(SendingAgent)))
    elif task == "updates":
        asyncio.run(updates(count))
    else:
        seconds = dict.fromkeys(VERSIONS, 0.0)
        for version in [*VERSIONS] * ROUNDS:
            seconds[version] += started(version) / ROUNDS
        print(json.dumps({"seconds": seconds[2], "ratio": seconds[2] / seconds[1]}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
