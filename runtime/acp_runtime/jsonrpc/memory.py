"""How much memory a message takes once it is decoded, told from its bytes without decoding it."""

from __future__ import annotations

# Memory that a message of the usual size takes beside its bytes, once it is models: measured with updates.
MODEL_BYTES = 2000
_USUAL = 256  # bytes of a message of that size
# Memory of a value, and of an object that may become a model: measured with lists of each.
_VALUE, _OBJECT = 64, 400
_LARGE = 64 * 1024
_PIECE = 1024 * 1024


def memory_of(line: bytes) -> int:
    """Return about how much memory a message takes once it is models. JSON can be written to take a hundred times more.

    One character widens all the others of its text: to 2 bytes, or to 4 if it is above U+FFFF.
    """
    size = len(line)
    if size <= _USUAL:
        return size + MODEL_BYTES
    escaped = b"\\ud" in line or b"\\uD" in line
    width = 4 if escaped or not line.isascii() else 2 if b"\\u" in line else 1
    values = _values(line)
    if size > _LARGE and values > 2 * size:  # texts may contain code
        values = _values_outside_of_texts(line)
    return size * width + values + MODEL_BYTES


def _values(text: bytes) -> int:
    return _VALUE * (text.count(b",") + text.count(b"[")) + _OBJECT * text.count(b"{")


def _values_outside_of_texts(line: bytes) -> int:
    line = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    values = inside = 0
    for start in range(0, len(line), _PIECE):
        pieces = line[start : start + _PIECE].split(b'"')
        values += _values(b" ".join(pieces[inside::2]))
        inside ^= (len(pieces) - 1) & 1
    return values
