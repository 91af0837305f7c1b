"""The last N bytes of a command's output, cut at a character."""

from __future__ import annotations

import codecs


class OutputTail:
    """Keeps the end of an output. Its memory doesn't grow with the output.

    Bytes that are not UTF-8 become U+FFFD, which counts with its three bytes. Half of a character at the end waits for
    the other half.

    Args:
        limit: how many bytes of UTF-8 are kept, at most. It cuts between characters, so that it may be up to three
            bytes less.

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
        """Note that the output has ended, so that half of a character stays half."""
        self._add(self._decoder.decode(b"", final=True))

    @property
    def text(self) -> str:
        """What is kept."""
        return self._kept.decode()

    def _add(self, text: str) -> None:
        self._kept += text.encode()
        surplus = len(self._kept) - self._limit
        if surplus > 0:
            self.truncated = True
            while surplus < len(self._kept) and self._kept[surplus] & 0xC0 == 0x80:  # inside of a character
                surplus += 1
            del self._kept[:surplus]
