"""Lines out of bytes: one message a line, UTF-8, ended by a newline (rules 1, 2 and 5). No I/O, no JSON."""

from __future__ import annotations

from acp_runtime.errors import MessageTooLarge

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n\x0b\x0c"


class LineSplitter:
    """Cuts what arrives into lines. The cost is linear in the bytes, however they are chunked.

    Args:
        limit: the longest line in bytes, its end not counted.

    Attributes:
        too_large: a line was over the limit, finished or not; nothing is to be fed anymore.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self.too_large: MessageTooLarge | None = None

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that end in this chunk, without blank ones, byte order marks and white space around them.

        Those before one that is over the limit, if `too_large` is set afterwards.
        """
        if b"\n" not in chunk:
            self._keep(chunk)
            return []
        ends = chunk.split(b"\n")
        last = ends.pop()
        if self._kept:
            self._keep(ends[0])
            ends[0] = self._take()
        if self.too_large is not None:
            return []
        if last:
            self._keep(last)
        if len(chunk) > self._limit:
            ends = self._within_limit(ends)
        # Any line may begin with one, but hardly any chunk has its first byte.
        bare = _bare if _BOM[0] in chunk else _stripped
        return [line for end in ends if (line := bare(end))]

    def end(self) -> list[bytes]:
        """What is left when nothing more comes: a last line without a newline, or nothing."""
        line = self._take()
        return [line] if line else []

    def _keep(self, part: bytes) -> None:
        self._kept += part
        if len(self._kept) > self._limit:
            self._refuse()

    def _take(self) -> bytes:
        line = bytes(self._kept)
        self._kept = bytearray()
        return _bare(line)

    def _within_limit(self, ends: list[bytes]) -> list[bytes]:
        for index, end in enumerate(ends):
            if len(end) > self._limit:
                self._refuse()
                return ends[:index]
        return ends

    def _refuse(self) -> None:
        self._kept = bytearray()
        self.too_large = MessageTooLarge(f"The peer sent a message of more than {self._limit} bytes.")


def _stripped(line: bytes) -> bytes:
    return line.strip(_BLANK)


def _bare(line: bytes) -> bytes:
    return line.strip(_BLANK).removeprefix(_BOM).strip(_BLANK)
