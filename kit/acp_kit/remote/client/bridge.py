"""Passes messages between stdin, stdout and a remote agent, for editors that only start processes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from acp_kit.remote.client.opening import open_transport
from acp_kit.remote.messages import error_response, read_messages
from acp_runtime import ConnectionClosed, Options
from acp_runtime.escaping import printable
from acp_runtime.transports import FileReader, FileWriter, Transport, shutdown_signals, take_over_stdio

# Escapes of control characters, which terminals obey. In JSON, only texts can have them, where the escape is the same.
_CONTROLS = {code: f"\\u{code:04x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r"}


async def bridge(url: str, headers: Mapping[str, str]) -> str | None:
    """Pass messages on until stdin or the agent ends, or SIGINT or SIGTERM arrives.

    The connection is opened at the first message. After the end of stdin, the remaining messages are sent within
    `Options.flush_deadline` seconds. Then the agent may answer pending requests for `Options.eof_grace` seconds, as on
    stdio. If the connection fails, pending requests get an error.

    Returns:
        Why the connection failed; None if the editor has ended it.
    """
    task = asyncio.current_task()
    assert task is not None
    cancelled = suppress(asyncio.CancelledError)
    with take_over_stdio() as (stdin, stdout), shutdown_signals(lambda _: task.cancel()), cancelled:
        return await _Bridge(stdin, stdout).run(url, headers)
    return None


class _Bridge:
    """Receives the chunks of stdin.

    Args:
        stdin: is read one chunk ahead of the messages that were sent to the agent.
        stdout: gets the agent's messages.
    """

    def __init__(self, stdin: FileReader, stdout: FileWriter) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._chunks = asyncio.Queue[bytes]()
        self._partial = bytearray()
        self._pending: set[str] = set()
        self._is_ending = False
        self._sending: asyncio.Task[None] | None = None

    def received(self, data: bytes, /) -> None:
        """Take a chunk, and pause reading."""
        self._stdin.pause()
        self._chunks.put_nowait(data)

    def ended(self, error: OSError | None, /) -> None:
        """Note the end of stdin, and limit the time for sending the rest."""
        self._chunks.put_nowait(b"")
        asyncio.get_running_loop().call_later(Options.flush_deadline, lambda: self._sending and self._sending.cancel())

    async def run(self, url: str, headers: Mapping[str, str]) -> str | None:
        """Pass messages on. Return why the connection failed."""
        reason = None
        try:
            self._stdin.start(self)
            if first := await self._read():
                await self._connect(url, headers, first)
        # ImportError: a SOCKS proxy needs a package.
        except (ConnectionClosed, OSError, ValueError, ImportError) as error:
            reason = printable(" ".join(str(error).split()), 2000)
            with suppress(OSError):
                for id in self._pending:
                    self._stdout.write(error_response(id, reason, {}))
        await self._stdout.close()
        return reason

    async def _connect(self, url: str, headers: Mapping[str, str], first: bytes) -> None:
        transport = await open_transport(url, headers=headers)
        receiving = asyncio.create_task(self._receive(transport))
        self._sending = sending = asyncio.create_task(self._send(transport, first))
        try:
            done, _ = await asyncio.wait((receiving, sending), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if not task.cancelled():
                    task.result()
            self._is_ending = True
            if self._pending:
                await asyncio.wait({receiving}, timeout=Options.eof_grace)
        finally:
            receiving.cancel()
            sending.cancel()
            await asyncio.gather(receiving, sending, return_exceptions=True)
            with suppress(Exception):
                async with asyncio.timeout(Options.flush_deadline):
                    await transport.close()

    async def _send(self, transport: Transport, lines: bytes) -> None:
        """Send the lines of stdin, until it ends."""
        while lines:
            await transport.send(lines)
            lines = await self._read()

    async def _receive(self, transport: Transport) -> None:
        """Write received messages to stdout, until stdin has ended and no request is pending.

        Raises:
            OSError: if the agent ends the connection.
        """
        while data := await transport.receive():
            text = data.decode(errors="surrogateescape")
            self._stdout.write(text.translate(_CONTROLS).encode(errors="surrogateescape"))
            await self._stdout.drain()
            for line in data.split(b"\n"):
                self._pending -= {
                    message.id for message in read_messages(line) if message.id is not None and not message.method
                }
            if self._is_ending and not self._pending:
                return
        raise OSError("The agent has ended the connection.")

    async def _read(self) -> bytes:
        """Return the next lines of stdin; nothing at its end."""
        while chunk := await self._chunks.get():
            self._stdin.resume()
            self._partial += chunk
            if b"\n" in chunk:
                end = self._partial.rindex(b"\n") + 1
                lines = bytes(self._partial[:end])
                del self._partial[:end]
                if lines.strip():
                    return self._note(lines)
        self._chunks.put_nowait(b"")
        rest = bytes(self._partial)
        self._partial.clear()
        return self._note(rest)

    def _note(self, lines: bytes) -> bytes:
        """Note the requests in lines. Return the lines for a transport."""
        # CR is white space in JSON, but a transport would split a line there.
        messages = [line.replace(b"\r", b" ") for line in lines.split(b"\n") if line.strip()]
        for message in messages:
            self._pending |= {
                request.id for request in read_messages(message) if request.id is not None and request.method
            }
        return b"".join(message + b"\n" for message in messages)
