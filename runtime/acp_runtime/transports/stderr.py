"""What a subprocess writes to its stderr: always read, its tail kept, and handed on where the options say."""

from __future__ import annotations

import asyncio
from logging import ERROR, getLogger
from pathlib import Path

from acp_runtime.connection.transport import ByteSource
from acp_runtime.logs import log
from acp_runtime.options import Options
from acp_runtime.transports.stderr_sinks import Sink, sink_of

# For how long reading pauses while a sink takes nothing, and how often it is looked at meanwhile.
_PATIENCE, _PAUSE = 1.0, 0.01

_logger = getLogger(__name__)


class Stderr:
    """The receiver of a subprocess's stderr. Reading pauses for a slow sink; one that is stuck misses what comes.

    Args:
        options: where it goes, and how much of it is kept.

    Raises:
        OSError: if the file can't be opened; names it.

    Attributes:
        finished: done when nothing more comes.
    """

    def __init__(self, options: Options) -> None:
        self._where = options.stderr
        self._kept = options.stderr_tail
        self._tail = bytearray()
        self._loop = asyncio.get_running_loop()
        self._source: ByteSource | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_stuck = False
        self._left_out = 0
        self._sink: Sink | None = sink_of(options.stderr)
        self.finished: asyncio.Future[None] = self._loop.create_future()

    @property
    def tail(self) -> str:
        """The end of it."""
        return self._tail.decode("utf-8", "replace")

    @property
    def where_to_look(self) -> str:
        """A sentence that says where a person finds it."""
        if isinstance(self._where, Path):
            return f"The agent's stderr may say why; it is in {str(self._where)!r}."
        passed_on = ", which is passed on to this process's stderr," if self._where == "inherit" else ""
        return f"The agent's stderr{passed_on} may say why."

    def start(self, source: ByteSource) -> None:
        """Begin to read."""
        self._source = source
        source.start(self)

    def received(self, data: bytes, /) -> None:
        """Keep and hand on some bytes."""
        self._tail += data
        del self._tail[: max(0, len(self._tail) - self._kept)]
        if self._sink is None:
            return
        if self._is_stuck and self._sink.is_full:
            self._left_out += len(data)
            return
        self._is_stuck = False
        self._put(self._sink, data)

    def ended(self, error: OSError | None, /) -> None:
        """That was all."""
        if not self.finished.done():
            self.finished.set_result(None)

    def is_handed_on(self) -> bool:
        """Whether all that has come has been taken."""
        return self._sink is None or self._sink.unwritten == 0

    def close(self) -> None:
        """Hand on nothing more."""
        sink, self._sink = self._sink, None
        if sink is not None:
            sink.close()
        if self._timer is not None:
            self._timer.cancel()

    def _put(self, sink: Sink, data: bytes) -> None:
        if self._left_out:
            data = b"\n[%d bytes of the agent's stderr are left out]\n" % self._left_out + data
            self._left_out = 0
        try:
            sink.put(data)
        except BaseException as error:
            # Whatever happens here, the agent must not be stopped by a full pipe, nor be asked again what was raised.
            self.close()
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            log(_logger, ERROR, "Handing on the agent's stderr failed; the rest of it is not handed on.", error=error)
            return
        if sink.is_full and self._timer is None and self._source is not None:
            self._source.pause()
            self._look_later(sink, self._loop.time())

    def _look_later(self, sink: Sink, since: float) -> None:
        self._timer = self._loop.call_later(_PAUSE, self._look, sink, since, sink.unwritten)

    def _look(self, sink: Sink, since: float, unwritten: int) -> None:
        """Read on if the sink has room, or if it has taken nothing for too long."""
        now = self._loop.time()
        if sink.unwritten != unwritten:
            since = now
        self._is_stuck = now - since > _PATIENCE
        if sink.is_full and not self._is_stuck:
            self._look_later(sink, since)
        elif self._source is not None:
            self._timer = None
            self._source.resume()
