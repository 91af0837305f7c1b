"""Clients that cost almost nothing: `websockets.py <task as JSON> <server> [<argument> ...]` opens WebSockets.

The server prints its port. Each of the task's `connections` opens a session. After `warm` untimed updates, all prompt
at the same time; timed until each has received `count` updates and then the response. Another number fails. Reports
the memory that a connection adds to the server's, and what is timed. Uses
only the standard library.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import time
from typing import Any

HANDSHAKE = (
    "GET /acp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
TEXT, PING, PONG = 0x81, 0x89, 0x8A
AT_ONCE = 50


class Client(asyncio.Protocol):
    """Counts the frames of one connection.

    Attributes:
        frames: how many came since the last request.
        last: the latest one.
    """

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.is_open = False
        self.frames = 0
        self.wanted = 0
        self.last = b""
        self.ids = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(RuntimeError(f"the server closed a connection after {self.frames} messages"))

    def data_received(self, data: bytes) -> None:
        if b'"error":' in data:
            raise RuntimeError(f"the server answered with an error: {data[-1000:]!r}")
        self.buffer += data
        if not self.is_open:
            head, end, _ = self.buffer.partition(b"\r\n\r\n")
            if not end:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                raise RuntimeError(f"the server refused: {head.decode()}")
            del self.buffer[: len(head) + 4]
            self.is_open = True
            self.done.set_result(None)
        self.take_frames()

    def take_frames(self) -> None:
        buffer, at = self.buffer, 0
        while (ends := frame_in(buffer, at)) and ends[1] <= len(buffer):
            if buffer[at] == TEXT:
                self.frames += 1
                if self.frames == self.wanted:
                    self.last = bytes(buffer[ends[0] : ends[1]])
                    self.done.set_result(None)
            elif buffer[at] == PING:
                self.transport.write(frame(bytes(buffer[ends[0] : ends[1]]), PONG))
            at = ends[1]
        del buffer[:at]

    async def request(self, method: str, params: Any, updates: int = 0) -> Any:
        """Send a request and return its result, which must come after this many notifications."""
        self.ids += 1
        self.frames, self.wanted = 0, updates + 1
        self.done = asyncio.get_running_loop().create_future()
        message = {"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params}
        self.transport.write(frame(json.dumps(message).encode()))
        await self.done
        answer = json.loads(self.last)
        if answer.get("id") != self.ids or "result" not in answer:
            raise RuntimeError(f"after {updates} updates came {self.last!r} instead of the response")
        return answer["result"]

    async def prompt(self, session: str, count: int) -> None:
        if count:
            text = {"type": "text", "text": f"{count} 40"}
            await self.request("session/prompt", {"sessionId": session, "prompt": [text]}, count)


def frame_in(buffer: bytearray, at: int) -> tuple[int, int] | None:
    """Return where the payload of a server's frame begins and ends; None if its length has not come."""
    if len(buffer) < at + 4:
        return None
    length = buffer[at + 1]
    if length < 126:
        return at + 2, at + 2 + length
    if length == 126:
        return at + 4, at + 4 + int.from_bytes(buffer[at + 2 : at + 4])
    raise RuntimeError("a frame of more than 64 KiB")


def frame(payload: bytes, opcode: int = TEXT) -> bytes:
    """Return a frame of a client. Its mask is zero, so that it costs nothing."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + size.to_bytes(2)
    return bytes([opcode]) + length + bytes(4) + payload


async def open_session(port: int) -> tuple[Client, str]:
    _, client = await asyncio.get_running_loop().create_connection(Client, "127.0.0.1", port)
    client.transport.write(HANDSHAKE.format(port=port).encode())
    await client.done
    await client.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    return client, (await client.request("session/new", {"cwd": "/tmp", "mcpServers": []}))["sessionId"]


async def measure(task: dict[str, Any], port: int, pid: int) -> dict[str, float]:
    sessions = [await open_session(port)]
    one = memory(pid)
    while (missing := task["connections"] - len(sessions)) > 0:
        sessions += await asyncio.gather(*(open_session(port) for _ in range(min(missing, AT_ONCE))))
    idle = (memory(pid) - one) / (len(sessions) - 1)
    await asyncio.gather(*(client.prompt(session, task["warm"]) for client, session in sessions))
    started = time.perf_counter()
    await asyncio.gather(*(client.prompt(session, task["count"]) for client, session in sessions))
    seconds = time.perf_counter() - started
    for client, _ in sessions:
        client.transport.abort()
    return {"seconds": seconds, "idle": idle}


def memory(pid: int) -> int:
    """Return the memory that a process uses, in bytes."""
    return int(subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True).stdout) * 1024


def main(task: dict[str, Any], command: list[str]) -> None:
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, 10_000) if limit > 0 else 10_000, limit))
    server = subprocess.Popen([*command, "remote"], stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        print(json.dumps(asyncio.run(measure(task, int(server.stdout.readline()), server.pid))))
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
