"""Splits bytes into lines: one message per line, UTF-8, ended by a newline (rules 1, 2 and 5). No I/O, no JSON.

Also estimates how much memory a message takes once it is decoded.
"""

from __future__ import annotations

from io import BytesIO
from os import urandom
from struct import unpack

from acp_runtime.errors import MessageTooLarge

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n\x0b\x0c"
_BACKSLASH = ord("\\")

# Memory that a message of the usual size takes beside its bytes, once it is models: measured with updates.
MODEL_BYTES = 2000
# Memory of a value, of an array while it is parsed, and of an object that may become a model: measured with lists.
_VALUE, _ARRAY, _OBJECT = 64, 200, 400
# The values of lines up to this size are counted; those of larger lines are estimated from samples.
_LARGE = 16 * 1024
_SAMPLES, _SAMPLE_SIZE = 16, 256
_BLOCK = 1024 * 1024


class LineSplitter:
    """Splits received bytes into lines, in linear time for any chunk sizes.

    Args:
        limit: the maximum length of a line in bytes, without its newline.

    Attributes:
        too_large: the reason to close the connection if a line, complete or not, was over the limit. No further lines
            are returned then.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._partial = BytesIO()
        self.too_large: MessageTooLarge | None = None

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that this chunk completes, stripped of white space and byte order marks, without blank ones.

        If a line is over the limit, set `too_large` and return only the lines before it.
        """
        if b"\n" not in chunk:
            self._append(chunk)
            return []
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if self._partial.tell():
            self._append(lines[0])
            lines[0] = self._take_partial()
        if self.too_large is not None:
            return []
        if rest:
            self._append(rest)
        if len(chunk) > self._limit:
            lines = self._cut_at_limit(lines)
        if _BOM[0] in chunk:  # look for a BOM only if its first byte occurs
            return [stripped for line in lines if (stripped := _strip_with_bom(line))]
        return [stripped for line in lines if (stripped := line.strip(_BLANK))]

    def end(self) -> list[bytes]:
        """Return a last line without a newline, if there is one. Called at the end of the stream."""
        line = self._take_partial()
        return [line] if line and self.too_large is None else []

    def _append(self, part: bytes) -> None:
        self._partial.write(part)
        if self._partial.tell() > self._limit:
            self._set_too_large()

    def _take_partial(self) -> bytes:
        line = self._partial.getvalue()  # no copy
        self._partial = BytesIO()
        return _strip_with_bom(line)

    def _cut_at_limit(self, lines: list[bytes]) -> list[bytes]:
        for index, line in enumerate(lines):
            if len(line) > self._limit:
                self._set_too_large()
                return lines[:index]
        return lines

    def _set_too_large(self) -> None:
        self._partial = BytesIO()
        reason = f"The peer sent a message of more than {self._limit} bytes (Options.max_message_bytes)."
        self.too_large = MessageTooLarge(reason)


def _strip_with_bom(line: bytes) -> bytes:
    return line.strip(_BLANK).removeprefix(_BOM).strip(_BLANK)


def memory_of(line: bytes) -> int:
    """Estimate how much memory a message takes once it is decoded, which can be a hundred times the size of its line.

    A text with one wide character takes 4 bytes for each character.
    """
    size = len(line)
    # Most lines have no backslash: a one-byte scan is fast. `rfind` is faster than `in` for two bytes.
    has_escapes = _BACKSLASH in line and line.rfind(b"\\u") >= 0
    width = 1 if line.isascii() and not has_escapes else 4
    values = _values(line) if size <= _LARGE else _estimated_values(line)
    if size > _LARGE and values > 2 * size:  # texts may contain code
        values = _values_outside_of_texts(line)
    return size * width + values + MODEL_BYTES


def _values(text: bytes) -> int:
    return _VALUE * text.count(b",") + _ARRAY * text.count(b"[") + _OBJECT * text.count(b"{")


def _estimated_values(line: bytes) -> int:
    """Estimate the values from samples at random places, so that a peer can't hide values between them."""
    step = len(line) // _SAMPLES
    randoms = unpack(f"{_SAMPLES}H", urandom(2 * _SAMPLES))
    offsets = [part * step + (random * (step - _SAMPLE_SIZE) >> 16) for part, random in enumerate(randoms)]
    samples = b"".join(line[start : start + _SAMPLE_SIZE] for start in offsets)
    return _values(samples) * len(line) // len(samples)


def _values_outside_of_texts(line: bytes) -> int:
    line = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    values = inside = 0
    for start in range(0, len(line), _BLOCK):
        parts = line[start : start + _BLOCK].split(b'"')
        values += _values(b" ".join(parts[inside::2]))
        inside ^= (len(parts) - 1) & 1
    return values
