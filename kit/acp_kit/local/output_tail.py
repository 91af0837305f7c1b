"""The last N bytes of a command's output, cut at a character."""

from __future__ import annotations

import codecs


class OutputTail:
    """Keeps the end of an output, in constant memory.

    Bytes that are not UTF-8 become U+FFFD, which counts as three bytes. An incomplete character at the end is added
    when its other bytes come.

    Args:
        limit: the largest number of bytes to keep, as UTF-8. The output is cut between characters, so up to three bytes
            fewer may be kept.

    Attributes:
        truncated: whether anything was dropped.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = bytearray()
        self.truncated: bool = False

    def add(self, data: bytes) -> None:
        """Add some bytes of the output."""
        self._add(self._decoder.decode(data))

    def end(self) -> None:
        """Note that the output has ended. An incomplete character becomes U+FFFD."""
        self._add(self._decoder.decode(b"", final=True))

    @property
    def text(self) -> str:
        """The end of the output."""
        return self._kept.decode()

    def _add(self, text: str) -> None:
        self._kept += text.encode()
        surplus = len(self._kept) - self._limit
        if surplus > 0:
            self.truncated = True
            while surplus < len(self._kept) and self._kept[surplus] & 0xC0 == 0x80:  # inside a character
                surplus += 1
            del self._kept[:surplus]
