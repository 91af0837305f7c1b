"""A server in a process of its own, whose memory hostile clients try to fill.

    python -m tests.kit.remote.server.hostile_server '{"bounds": {...}, "options": {...}}'

It prints its port, and ends with SIGTERM.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from typing import Any

from acp_bindings import v1
from acp_kit.remote import Bounds, HTTPRequest, agent_app
from acp_runtime.transports import Transport
from tests.support.kit.remote_agents import EchoAgent
from tests.support.kit.remote_servers import Site

_PING, _PONG = 9, 10


class FloodingAgent(EchoAgent):
    """Never answers `_hold`. `_flood` says how many sessions get how many updates, and their size in bytes."""

    async def ext_request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "_hold":
            await asyncio.Event().wait()
        if method == "_flood":
            await asyncio.gather(*(self._flood(f"flood{number}", **params) for number in range(params["sessions"])))
        return {}

    async def _flood(self, session: str, sessions: int, size: int, count: int) -> None:
        for _ in range(count):
            await self.say(session, "x" * size)


async def _authenticate(request: HTTPRequest) -> None:
    await asyncio.sleep(float(request.headers.get("slow", 0)))


async def _serve(transport: Transport, _: None) -> None:
    await v1.serve(FloodingAgent, transport)


class Victim(Site):
    """A running server, and the memory of its process.

    Args:
        process: the process.
        port: where it listens.
    """

    def __init__(self, process: Popen[bytes], port: int) -> None:
        super().__init__(port)
        self._process = Path(f"/proc/{process.pid}")
        self._before = 0

    def start(self) -> None:
        """Measure from now on."""
        (self._process / "clear_refs").write_text("5")
        self._before = self._status("VmRSS")

    @property
    def open_files(self) -> int:
        """The number of its open files and sockets."""
        return len([*(self._process / "fd").iterdir()])

    @property
    def now(self) -> int:
        """The bytes of memory that its process has now, without those at the start."""
        return self._status("VmRSS") - self._before

    @property
    def peak(self) -> int:
        """The most bytes of memory that its process has had, without those at the start."""
        return self._status("VmHWM") - self._before

    def _status(self, name: str) -> int:
        for line in (self._process / "status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * 1024
        raise AssertionError(name)

    async def websocket(self, *frames: bytes, initialize: bool = True, deflate: bool = False) -> WebSocket:
        """Open a WebSocket, and send frames."""
        reader, writer = await self.connect()
        extensions = "Sec-WebSocket-Extensions: permessage-deflate\r\n" if deflate else ""
        writer.write(
            f"GET /acp HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{extensions}\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        socket = WebSocket(reader, writer, head)
        if initialize:
            await socket.initialize()
        await socket.send(*frames)
        return socket


class WebSocket:
    """A client's WebSocket that can send any bytes, and reads only when the test says so.

    Attributes:
        head: the head of the response that opened it.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        self._reader = reader
        self._writer = writer
        self.head = head

    async def initialize(self) -> None:
        await self.send(frame(message("initialize", {"protocolVersion": 1}, id=0)))
        assert b"result" in await self.next() or b"permessage-deflate" in self.head

    async def send(self, *frames: bytes) -> bool:
        """Send frames as fast as the server reads them. Return whether it read them."""
        try:
            for data in frames:
                self._writer.write(data)
                await self._writer.drain()
        except ConnectionError:
            return False
        return True

    async def next(self) -> bytes:
        """Answer pings, and return the payload of the next other frame. For a close frame, it is the code."""
        while True:
            first, length = await self._reader.readexactly(2)
            if length >= 126:
                length = int.from_bytes(await self._reader.readexactly(2 if length == 126 else 8), "big")
            payload = await self._reader.readexactly(length)
            if first & 0x0F != _PING:
                return payload
            await self.send(frame(payload, _PONG))

    async def until_closed(self) -> int:
        """Read until the server has closed the TCP connection. Return the code, 1006 if it sent none."""
        code, last = 1006, b""
        try:
            while True:
                last = await self.next()
        except (ConnectionError, asyncio.IncompleteReadError):
            if len(last) >= 2 and not last.startswith(b"{"):
                code = int.from_bytes(last[:2], "big")
        await self.close()
        return code

    def stop_reading(self) -> None:
        self._writer.transport.pause_reading()

    async def close(self) -> None:
        self._writer.transport.abort()


def message(method: str, params: Any, id: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()


def frame(payload: bytes, opcode: int = 1, *, fin: bool = True, deflated: bool = False, length: int = -1) -> bytes:
    """Return a client's frame, or the beginning of one whose payload has a greater length."""
    size = len(payload) if length < 0 else length
    first = fin << 7 | deflated << 6 | opcode
    length_bytes = bytes((0x80 | size,)) if size < 126 else b"\xff" + size.to_bytes(8, "big")
    return bytes((first,)) + length_bytes + b"\0\0\0\0" + payload


@contextmanager
def victim(bounds: dict[str, Any], **options: Any) -> Generator[Victim]:
    """Run the server during the block."""
    argument = json.dumps({"bounds": bounds, "options": options})
    # Otherwise glibc keeps freed memory, as much as it likes.
    env = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_MMAP_THRESHOLD_": "65536"}
    command = [sys.executable, "-m", "tests.kit.remote.server.hostile_server", argument]
    with TemporaryFile() as log, Popen(command, stdout=PIPE, stderr=log, env=env) as process:
        assert process.stdout is not None
        try:
            yield Victim(process, int(process.stdout.readline()))
        finally:
            process.terminate()
            code = process.wait(60)
            log.seek(0)
            text = log.read().decode()
        assert code == 0, text
        assert "Traceback" not in text, text


def main(argument: str) -> None:
    from acp_kit.remote.server.running import listen, serve

    given = json.loads(argument)
    app = agent_app(_serve, authenticate=_authenticate, bounds=Bounds(**given["bounds"]))
    with listen("127.0.0.1", 0, app.bounds.unread_seconds) as listener:
        print(listener.getsockname()[1], flush=True)
        asyncio.run(serve(app, [listener], **given["options"]))


if __name__ == "__main__":
    main(sys.argv[1])
