"""Reads the stderr of a subprocess, keeps its tail, and forwards it as `Options.stderr` says."""

from __future__ import annotations

import asyncio
from logging import ERROR, getLogger
from pathlib import Path

from acp_runtime.connection.transport import ByteSource
from acp_runtime.logs import log
from acp_runtime.options import Options
from acp_runtime.transports.stderr_sinks import Sink, sink_of

# Seconds that reading pauses for a sink that accepts nothing, and seconds between two checks of it.
_STUCK_AFTER, _INTERVAL = 1.0, 0.01

_logger = getLogger(__name__)


class StderrReceiver:
    """Receives the stderr of a subprocess. Reading pauses for a slow sink; output is dropped while a sink is stuck.

    Args:
        options: say where stderr is forwarded to, and how much of its tail is kept.

    Raises:
        OSError: if the file can't be opened; the message names it.

    Attributes:
        finished: done at the end of stderr.
    """

    def __init__(self, options: Options) -> None:
        self._where = options.stderr
        self._max_tail = options.stderr_tail
        self._tail = bytearray()
        self._loop = asyncio.get_running_loop()
        self._source: ByteSource | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_stuck = False
        self._dropped = 0
        self._sink: Sink | None = sink_of(options.stderr)
        self.finished: asyncio.Future[None] = self._loop.create_future()

    @property
    def tail(self) -> str:
        """The end of stderr, decoded."""
        return self._tail.decode("utf-8", "replace")

    @property
    def where_to_look(self) -> str:
        """A sentence that says where to find stderr."""
        if isinstance(self._where, Path):
            return f"The agent's stderr, in {str(self._where)!r}, may say why."
        forwarded = ", which is forwarded to this process's stderr," if self._where == "inherit" else ""
        return f"The agent's stderr{forwarded} may say why."

    def start(self, source: ByteSource) -> None:
        """Start reading."""
        self._source = source
        source.start(self)

    def received(self, data: bytes, /) -> None:
        """Update the tail and forward the bytes."""
        self._tail += data
        del self._tail[: max(0, len(self._tail) - self._max_tail)]
        if self._sink is None:
            return
        if self._is_stuck and self._sink.is_full:
            self._dropped += len(data)
            return
        self._is_stuck = False
        self._put(self._sink, data)

    def ended(self, error: OSError | None, /) -> None:
        """Set `finished`."""
        if not self.finished.done():
            self.finished.set_result(None)

    def is_forwarded(self) -> bool:
        """Return whether the sink has written everything that was received."""
        return self._sink is None or self._sink.unwritten == 0

    def close(self) -> None:
        """Stop forwarding."""
        sink, self._sink = self._sink, None
        if sink is not None:
            sink.close()
        if self._timer is not None:
            self._timer.cancel()

    def _put(self, sink: Sink, data: bytes) -> None:
        if self._dropped:
            data = b"\n[%d bytes of the agent's stderr were dropped]\n" % self._dropped + data
            self._dropped = 0
        try:
            sink.put(data)
        except BaseException as error:
            # Without a sink, stderr is still read, so that a full pipe doesn't block the agent.
            self.close()
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            log(_logger, ERROR, "Forwarding the agent's stderr failed; the rest of it is not forwarded.", error=error)
            return
        if sink.is_full and self._timer is None and self._source is not None:
            self._source.pause()
            self._check_later(sink, self._loop.time())

    def _check_later(self, sink: Sink, since: float) -> None:
        self._timer = self._loop.call_later(_INTERVAL, self._check, sink, since, sink.unwritten)

    def _check(self, sink: Sink, since: float, unwritten: int) -> None:
        """Resume reading if the sink has room, or has accepted nothing for too long."""
        now = self._loop.time()
        if sink.unwritten != unwritten:
            since = now
        self._is_stuck = now - since > _STUCK_AFTER
        if sink.is_full and not self._is_stuck:
            self._check_later(sink, since)
        elif self._source is not None:
            self._timer = None
            self._source.resume()
