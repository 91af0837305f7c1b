"""A stream of events: the agent's messages for the connection or for one session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from logging import getLogger

from acp_kit.remote.client.events import EventParser
from acp_kit.remote.client.requests import NOT_FOUND, RefusedError, Requests

_logger = getLogger(__name__)
_PATIENCE = 60.0  # seconds without data from an agent that sends keep-alives, as SDKs do every 15 seconds
_HELD_BACK = (
    "Nothing has come on a stream for %s seconds after it was opened. A proxy may hold back the agent's messages."
)
# The pauses before a stream is opened again, each time that it has ended early, in seconds.
_PAUSES = (0.0, 0.1, 0.5, 2.0, 5.0, 10.0)
_PARSED_BYTES = 4096  # at a time, so that thousands of small lines or events don't delay other tasks
_EARLY = 10.0  # a stream that is open for a shorter time ends early, in seconds


class Stream:
    """Reads the stream of a session or of the connection.

    After the agent or a proxy has ended the stream of a session, it is opened again, unless nothing came on it or it
    has ended early seven times in a row.

    Args:
        session: the id of the session; empty for the stream of the connection.
        requests: sends HTTP requests.
        max_message_bytes: the size of the largest message, in bytes.
        receive: takes messages, and waits until they are received.
        on_end: called when it has ended.

    Attributes:
        task: reads the stream.
        is_settled: set when the agent has answered GET.
        reopens: whether it may be opened again.
        error: why it ended; None if it hasn't, if the agent doesn't know the session yet, or if the stream of the
            connection ended without an error.
        is_fatal: whether its end ends the connection.
    """

    def __init__(
        self,
        session: str,
        requests: Requests,
        max_message_bytes: int,
        receive: Callable[[list[bytes]], Awaitable[None]],
        on_end: Callable[[Stream], Awaitable[None]],
    ) -> None:
        self.session = session
        self.reopens = bool(session)
        self.error: OSError | None = None
        self.is_fatal = not session
        self._requests = requests
        self._max_message_bytes = max_message_bytes
        self._receive = receive
        self._on_end = on_end
        self._was_opened = False
        self._patience: float | None = None  # None until the agent has sent a keep-alive
        self.is_settled = asyncio.Event()
        self.task = asyncio.create_task(self._run(), name="acp-stream")

    async def _run(self) -> None:
        clock = asyncio.get_running_loop().time
        early = 0
        try:
            opened = clock()
            while await self._read():
                early = 1 if clock() - opened > _EARLY else early + 1
                if early > len(_PAUSES):
                    raise OSError(f"The agent closed the stream of the session {early} times after a short time.")
                await asyncio.sleep(_PAUSES[early - 1])
                opened = clock()
        except RefusedError as refused:
            is_unknown = refused.status == NOT_FOUND and bool(self.session)
            self.is_fatal |= refused.ends_connection and not is_unknown
            self.error = None if is_unknown and not self._was_opened else refused
        except OSError as lost:
            self.error = lost
        except ValueError as invalid:
            self.error = OSError(str(invalid))
            self.is_fatal = True
        self.is_settled.set()
        await self._on_end(self)

    async def _read(self) -> bool:
        """Open the stream, and read until it ends. Return whether to open it again.

        Raises:
            OSError: if the stream ended and must not be opened again.
            ValueError: if an event is too large.
        """
        is_silent = True
        held_back = asyncio.get_running_loop().call_later(_PATIENCE, _logger.warning, _HELD_BACK, _PATIENCE)
        try:
            async with self._requests.send("GET", self.session, self._patience) as response:
                kind = response.headers.get("content-type", "")
                if not kind.startswith("text/event-stream"):
                    raise self._requests.unusable(response, f"it is {kind or 'of no type'} instead of events")
                self._was_opened = True
                self.is_settled.set()
                parser = EventParser(self._max_message_bytes)
                chunks = response.aiter_raw()
                while chunk := await _next(chunks, self._patience):
                    held_back.cancel()
                    if not is_silent and chunk.startswith(b":") and chunk.endswith(b"\n"):  # a keep-alive
                        self._patience = _PATIENCE
                    is_silent = False
                    for start in range(0, len(chunk), _PARSED_BYTES):
                        if messages := parser.feed(chunk[start : start + _PARSED_BYTES]):
                            await self._receive(messages)
                        await asyncio.sleep(0)
            if not self.session:
                return False
            raise OSError("The agent closed the stream of the session.")
        except OSError:
            if is_silent or not self.reopens:
                raise
            return True
        finally:
            held_back.cancel()


async def _next(chunks: AsyncIterator[bytes], patience: float | None) -> bytes:
    """Return the next chunk; nothing at the end.

    Raises:
        OSError: if nothing comes within `patience` seconds. A network may fail without closing the connection.
    """
    try:
        async with asyncio.timeout(patience):
            return await anext(chunks, b"")
    except TimeoutError:
        raise OSError(f"The agent has sent nothing for {patience} seconds, not even keep-alives.") from None
