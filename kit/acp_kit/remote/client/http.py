"""A transport over streamable HTTP, for clients.

Messages are sent with POST, one after the other. The agent's messages come on streams of events, which GET opens: one
for the connection, and one for each session. Each message is accepted on any stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from logging import getLogger

import httpx2

from acp_kit.remote.client.requests import NOT_FOUND, PROTOCOL_VERSION, RefusedError, Requests, read_start
from acp_kit.remote.client.streams import Stream
from acp_kit.remote.headers import CONNECTION_ID, MAX_ID, is_id
from acp_kit.remote.messages import ENDS_SESSION, Message, check_memory, error_response, read_messages

_logger = getLogger(__name__)
_SENDING = 60.0  # seconds for the response to a POST; `initialize` has no limit
_OPENING = 5.0  # seconds that a message waits for the stream of its session
_DELETING = 1.0  # seconds
_LAST_EVENTS = 1.0  # seconds for the streams of sessions after the stream of the connection has ended
_MAX_AGENT_REQUESTS = 10_000  # requests of the agent without a response


class HttpTransport:
    """Sends each message with POST, and receives from all streams.

    Args:
        requests: sends HTTP requests.
        max_message_bytes: the size of the largest message that is received, in bytes.
    """

    def __init__(self, requests: Requests, max_message_bytes: int) -> None:
        self._requests = requests
        self._max_message_bytes = max_message_bytes
        self._received = asyncio.Queue[bytes | OSError]()
        self._end: OSError | None = None
        self._is_ending = False
        self._streams: dict[str, Stream] = {}
        self._pending: dict[str, Message] = {}  # requests to the agent without a response, by id
        self._agent_requests: dict[str, str] = {}  # the sessions of the agent's requests without a response, by id

    async def receive(self) -> bytes:
        """Return the next messages of any stream."""
        data = await self._received.get()
        self._received.task_done()
        if isinstance(data, OSError):
            raise data
        return data

    async def send(self, data: bytes, /) -> None:
        """Send each message, and wait until the agent has accepted it."""
        for line in data.splitlines():
            if self._end is not None:
                raise self._end
            await self._send(line)

    async def close(self) -> None:
        """End the connection, and close all streams."""
        try:
            if CONNECTION_ID in self._requests.headers:
                with suppress(OSError):  # the connection may have ended
                    async with asyncio.timeout(_DELETING), self._requests.send("DELETE", "", _DELETING):
                        pass
        finally:
            tasks = [stream.task for stream in self._streams.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._requests.close()

    async def _send(self, line: bytes) -> None:
        messages = read_messages(line)
        requests = {
            message.id: message for message in messages if message.id is not None and message.method is not None
        }
        sessions = [self._session_of(message) for message in messages]
        session = next(filter(None, sessions), "")
        if session and any(request.method not in ENDS_SESSION for request in requests.values()):
            stream = await self._wait_for_stream(session)
            if stream.error is not None:
                self._fail(requests, stream.error)
                return
        self._pending |= requests
        try:
            await self._post_to(session, line)
        except RefusedError as refused:
            if refused.ends_connection:
                raise
            if not requests:
                _logger.warning("A notification or a response is lost: %s", refused)
            self._fail(self._pending.keys() & requests.keys(), refused)

    async def _post_to(self, session: str, line: bytes) -> None:
        """Post a message. If the agent doesn't know the session, post it again without the id of the session.

        The Python SDK (0.12.1 and 1.0.0rc3) refuses the id of the session to load in `session/load`.
        """
        try:
            return await self._post(line, session)
        except RefusedError as refused:
            if not session or refused.status != NOT_FOUND:
                raise
            unknown = refused
        try:
            await self._post(line, "")
        except RefusedError as refused:
            unknown.ends_connection = refused.ends_connection  # True if the connection is unknown, too
            raise unknown from None

    async def _post(self, line: bytes, session: str) -> None:
        is_connected = CONNECTION_ID in self._requests.headers
        async with self._requests.send("POST", session, _SENDING if is_connected else None, content=line) as response:
            body = (await read_start(response, self._max_message_bytes)).replace(b"\r", b" ")
        if len(body) > self._max_message_bytes:
            raise OSError(f"The agent answered with more than {self._max_message_bytes} bytes.")
        if not is_connected:
            await self._finish_connecting(response, body)
        elif response.headers.get("content-type", "").startswith("application/json") and body:
            self._take([body])

    async def _finish_connecting(self, response: httpx2.Response, body: bytes) -> None:
        """Handle the response to `initialize`."""
        messages = read_messages(body)
        id = response.headers.get(CONNECTION_ID, "")
        id = id if is_id(id) else ""
        if not id and not any(message.is_error for message in messages):
            raise self._requests.unusable(response, f"its response to initialize has no usable {CONNECTION_ID}")
        self._take([body])
        if id:
            self._requests.headers[CONNECTION_ID] = id
            for message in messages:
                if message.version is not None:
                    self._requests.headers[PROTOCOL_VERSION] = str(message.version)
            await self._wait_for_stream("")

    def _session_of(self, message: Message) -> str:
        """Return the session that a message to the agent belongs to."""
        if message.method is None and message.id is not None:
            return self._agent_requests.pop(message.id, "")
        return message.session

    def _open(self, session: str) -> Stream:
        """Return the stream of a session. Open it if there is none."""
        stream = self._streams.get(session)
        if stream is None or stream.task.done():
            stream = Stream(session, self._requests, self._max_message_bytes, self._receive_events, self._handle_end)
            self._streams[session] = stream
        return stream

    async def _wait_for_stream(self, session: str) -> Stream:
        """Return the stream of a session once the agent has answered GET, or after 5 seconds."""
        stream = self._open(session)
        with suppress(TimeoutError):
            async with asyncio.timeout(_OPENING):
                await stream.is_settled.wait()
        return stream

    async def _receive_events(self, messages: list[bytes]) -> None:
        """Take messages of a stream, and wait until they are received."""
        self._take(messages)
        await self._received.join()

    def _take(self, messages: list[bytes]) -> None:
        self._received.put_nowait(b"".join(check_memory(message).replace(b"\n", b" ") + b"\n" for message in messages))
        for message in messages:
            for part in read_messages(message):
                self._note(part)

    def _note(self, message: Message) -> None:
        """Remember the session of a request of the agent. Open the streams of the sessions of a response."""
        if message.id is None:
            return
        if message.method is not None:
            if message.session:
                self._agent_requests[message.id] = message.session
            longest_id = max(len(message.id), len(message.session))
            if len(self._agent_requests) > _MAX_AGENT_REQUESTS or longest_id > MAX_ID:
                raise ValueError(
                    f"The agent has more than {_MAX_AGENT_REQUESTS} requests without a response, or an id with more "
                    f"than {MAX_ID} characters."
                )
            return
        request = self._pending.pop(message.id, None)
        if request is None or message.is_error:
            return
        for session in filter(None, {message.session, request.session}):
            if request.method not in ENDS_SESSION:
                self._open(session)
            elif session in self._streams:
                self._streams[session].reopens = False
        stream = self._streams.get(request.session)
        if stream and stream.session and not stream.reopens and not self._pending_of(stream):
            stream.task.cancel()  # the session has ended
            del self._streams[stream.session]

    def _pending_of(self, stream: Stream) -> list[str]:
        return [id for id, request in self._pending.items() if request.session == stream.session]

    async def _handle_end(self, stream: Stream) -> None:
        """Handle the end of a stream."""
        if not stream.session and stream.error is None:
            self._is_ending = True
            others = [other for other in self._streams.values() if other is not stream]
            for other in others:
                other.reopens = False
            if others:
                await asyncio.wait([other.task for other in others], timeout=_LAST_EVENTS)
        if stream.is_fatal:
            self._finish(stream.error)
        elif stream.error is not None and not self._is_ending:
            self._fail(self._pending_of(stream), stream.error)

    def _finish(self, error: OSError | None) -> None:
        """End the connection, after the messages that were received before."""
        if self._end is None:
            self._end = error or OSError("The agent has ended the connection.")
            self._received.put_nowait(error or b"")

    def _fail(self, requests: Iterable[str], error: OSError) -> None:
        """Answer pending requests with an error."""
        data = {"status": error.status if isinstance(error, RefusedError) else None}
        for id in requests:
            self._pending.pop(id, None)
            self._received.put_nowait(error_response(id, str(error), data))
