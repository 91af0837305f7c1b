"""How a text is stored in a file: its encoding, and its byte order mark, if any."""

from __future__ import annotations

import codecs

# UTF-32 comes first, because its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
MARK_BYTES = 4


def decode(data: bytes, default: str) -> str:
    """Return the text of a file without its byte order mark. A file without one has the default encoding.

    Raises:
        NotText: if the bytes are not valid in the encoding.
    """
    mark, encoding = _format(data, default)
    try:
        return data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        offset = len(mark) + error.start
        raise NotText(f"is not {encoding} text: {error.reason} at byte {offset}") from error


def encode(text: str, start: bytes, default: str) -> bytes:
    """Return the bytes of a text, with the encoding and the byte order mark of a file that begins with `start`.

    Raises:
        NotText: if the encoding lacks a character of the text.
    """
    mark, encoding = _format(start, default)
    if mark:
        text = text.removeprefix("\ufeff")
    try:
        return mark + text.encode(encoding)
    except UnicodeEncodeError as error:
        char = f"U+{ord(text[error.start]):04X}"
        raise NotText(f"can't hold the content, because {char} can't be stored as {encoding}") from error


def _format(start: bytes, default: str) -> tuple[bytes, str]:
    return next(((mark, encoding) for mark, encoding in _MARKS if start.startswith(mark)), (b"", default))


class NotText(ValueError):
    """The content of a file can't be decoded, or can't be encoded as it should be.

    Args:
        problem: what is wrong, as the end of a sentence that starts with the path.
    """
