"""A local OpenAI-compatible endpoint, whose answers the test writes."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from tests.support.kit.http_heads import read_head

ModelOutput: TypeAlias = str | list[tuple[str, dict[str, Any] | str]]
Answer: TypeAlias = ModelOutput | int


class ModelServer:
    """Streams the next of `answers` for each request.

    Attributes:
        url: the base URL for the client's library.
        answers: what the model says: a text, or a list of tool calls as name and arguments. Arguments that are text are
            sent as they are. A number is the status of an error; 200 ends the connection in mid-answer.
        requests: the bodies of all requests.
        may_end: an answer does not end before this is set.
    """

    def __init__(self, answers: list[Answer]) -> None:
        self.url = ""
        self.answers = answers
        self.requests: list[dict[str, Any]] = []
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.streaming = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close the connection, so that no client keeps it."""
        try:
            _, headers = await read_head(reader)
            self.requests.append(json.loads(await reader.readexactly(int(headers["content-length"]))))
            await self._answer(writer)
        except ConnectionError:
            return  # the agent was cancelled
        finally:
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter) -> None:
        answer = self.answers.pop(0)
        if isinstance(answer, int) and answer != 200:
            body = b'{"error": {"message": "out of order"}}'
            writer.write(f"HTTP/1.1 {answer} No\r\nContent-Length: {len(body)}\r\n".encode())
            writer.write(b"Content-Type: application/json\r\nConnection: close\r\nx-should-retry: false\r\n\r\n" + body)
            await writer.drain()
            return
        head = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked", "Connection: close"]
        writer.write("\r\n".join([*head, "", ""]).encode())
        for event in self._first_events("half" if isinstance(answer, int) else answer):
            writer.write(_chunk(event))
            await writer.drain()
        if isinstance(answer, int):
            return
        self.streaming.set()
        await self.may_end.wait()
        for event in self._last_events(answer):
            writer.write(_chunk(event))
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    def _first_events(self, answer: ModelOutput) -> list[bytes]:
        """Return the events of an answer, except for those that end it."""
        deltas = _deltas(answer, self.tool_call_id)
        return [_event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in deltas]

    def tool_call_id(self, index: int) -> str:
        """Return the id of a tool call by its place in the answer to the last request."""
        return f"call_{len(self.requests)}_{index}"

    def _last_events(self, answer: ModelOutput) -> list[bytes]:
        reason = "stop" if isinstance(answer, str) else "tool_calls"
        return [_event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}), b"data: [DONE]\n\n"]


@asynccontextmanager
async def model_server(
    *answers: Any, speaking: type[ModelServer] = ModelServer, listener: socket.socket | None = None
) -> AsyncIterator[ModelServer]:
    model = speaking([*answers])
    server = await asyncio.start_server(model.serve, sock=listener or socket.create_server(("127.0.0.1", 0)))
    model.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield model
    finally:
        model.may_end.set()
        server.close()


def _deltas(answer: ModelOutput, id_of: Callable[[int], str]) -> list[dict[str, Any]]:
    """Return the parts of an answer: words of a text; a tool call with its arguments in two halves."""
    if isinstance(answer, str):
        return [{"role": "assistant", "content": word} for word in words(answer)]
    deltas: list[dict[str, Any]] = []
    for index, (name, arguments) in enumerate(answer):
        half, rest = halves(arguments)
        first = {"id": id_of(index), "type": "function", "function": {"name": name, "arguments": half}}
        deltas.append({"tool_calls": [{"index": index, **first}]})
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": rest}}]})
    return deltas


def words(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text)


def halves(arguments: dict[str, Any] | str) -> tuple[str, str]:
    """Return the arguments of a tool call as JSON, in two parts."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    half = len(text) // 2
    return text[:half], text[half:]


def _event(data: dict[str, Any]) -> bytes:
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**about, **data}).encode() + b"\n\n"


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"
