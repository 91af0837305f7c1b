"""Lines out of bytes: one message a line, UTF-8, ended by a newline (rules 1, 2 and 5). No I/O, no JSON."""

from __future__ import annotations

from collections.abc import Iterator

from acp_runtime.errors import MessageTooLarge

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n\x0b\x0c"


class LineReader:
    """Cuts what arrives into lines. The cost is linear in the bytes, however they are chunked.

    Args:
        limit: the longest line in bytes, its end not counted.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that end in this chunk, without blank ones, byte order marks and white space around them.

        Raises:
            MessageTooLarge: after the lines before it, as soon as a line is over the limit, finished or not.
        """
        *ends, last = chunk.split(b"\n")
        for end in ends:
            line = self._whole(end)
            if line:
                yield line
        if last:
            self._keep(last)

    def _whole(self, end: bytes) -> bytes:
        if not self._parts:
            self._check(len(end))
            return _bare(end)
        self._keep(end)
        return self._take()

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        self._parts.append(part)
        self._check(self._size)

    def _take(self) -> bytes:
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        return _bare(line)

    def _check(self, size: int) -> None:
        if size > self._limit:
            self._parts, self._size = [], 0
            raise MessageTooLarge(f"The peer sent a message of more than {self._limit} bytes.")

    def end(self) -> list[bytes]:
        """What is left when nothing more comes: a last line without a newline, or nothing."""
        line = self._take()
        return [line] if line else []


def _bare(line: bytes) -> bytes:
    return line.strip(_BLANK).removeprefix(_BOM).strip(_BLANK)
