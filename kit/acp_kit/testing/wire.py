"""The agent's end of a connection, on which a script can also do what no connection does.

A script writes garbage, dies, or changes an answer by messages that `Wire` obeys instead of sending them. So all this
happens in order with the agent's other messages.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias

from acp_bindings import v1
from acp_runtime import Options
from acp_runtime.transports import FileReader, FileWriter, Transport, shutdown_signals, take_over_stdio

_OBEYED = "_acp_kit/wire"


Exit: TypeAlias = Callable[[int], Awaitable[object]]
"""Ends the process of an agent, with an exit code, when what was sent is written."""


class Served(Protocol):
    """An agent that serves a client over a transport: a `ScriptedAgent`, or a `Replay`."""

    async def serve(self, transport: Transport, options: Options, exit: Exit) -> None:
        """Serve a client until the connection ends."""


async def write(client: v1.RemoteClient, data: bytes, *, answer_to: Any = None, keep: bool = True) -> None:
    """Write bytes between the agent's messages.

    Args:
        client: the proxy of the client. The agent has to be connected over a `Wire`.
        data: the bytes, with the newline.
        answer_to: the id of a request, to write them behind its answer; without it, at once.
        keep: whether that answer is written, too.
    """
    await client.ext_notification(_OBEYED, {"write": data.decode("latin-1"), "id": answer_to, "keep": keep})


async def leave(client: v1.RemoteClient, code: int) -> None:
    """End the agent, when all that it has sent is written.

    Args:
        client: the proxy of the client. The agent has to be connected over a `Wire`.
        code: the exit code, if the agent is a process. In one process with the client, only the connection ends.
    """
    await client.ext_notification(_OBEYED, {"exit": code})


class Wire:
    """A transport that obeys `write` and `leave`.

    Args:
        transport: where the messages go.
        exit: what `leave` does.
    """

    def __init__(self, transport: Transport, exit: Exit) -> None:
        self._transport = transport
        self._exit = exit
        self._orders: dict[str, dict[str, Any]] = {}

    async def receive(self) -> bytes:
        """Return bytes of the client."""
        return await self._transport.receive()

    async def close(self) -> None:
        """Close the transport."""
        await self._transport.close()

    async def send(self, data: bytes, /) -> None:
        """Send messages, and obey those that are meant for this transport."""
        for line in data.splitlines(keepends=True):
            message = json.loads(line)
            if message.get("method") == _OBEYED:
                await self._obey(message["params"])
            elif "method" in message or (order := self._orders.pop(json.dumps(message["id"]), None)) is None:
                await self._transport.send(line)
            else:
                await self._transport.send((line if order["keep"] else b"") + order["write"].encode("latin-1"))

    async def _obey(self, order: dict[str, Any]) -> None:
        if "exit" in order:
            await self._exit(order["exit"])
        elif order["id"] is None:
            await self._transport.send(order["write"].encode("latin-1"))
        else:
            self._orders[json.dumps(order["id"])] = order


class _Stdio:
    """A transport on stdin and stdout."""

    def __init__(self, stdin: FileReader, stdout: FileWriter) -> None:
        self.close = stdout.close
        self._stdin = stdin
        self._stdout = stdout
        self._chunks = asyncio.Queue[bytes]()
        stdin.start(self)

    def received(self, data: bytes, /) -> None:
        self._stdin.pause()
        self._chunks.put_nowait(data)

    def ended(self, error: OSError | None, /) -> None:
        self._chunks.put_nowait(b"")

    async def receive(self) -> bytes:
        self._stdin.resume()
        return await self._chunks.get()

    async def send(self, data: bytes, /) -> None:
        self._stdout.write(data)
        await self._stdout.drain()


async def serve_stdio(agent: Served) -> None:
    """Serve an agent on stdin and stdout, until the client closes them, or SIGINT or SIGTERM arrives."""
    with take_over_stdio() as (stdin, stdout):

        async def exit(code: int) -> None:
            await stdout.close()
            os._exit(code)

        serving = asyncio.create_task(agent.serve(_Stdio(stdin, stdout), Options(), exit))
        with shutdown_signals(lambda _: serving.cancel()):
            await asyncio.wait({serving})
        if not serving.cancelled():
            serving.result()
