"""How the text of a file is stored as bytes: its encoding, and the byte order mark that it begins with, if any."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
MARK_BYTES = 4


@dataclass(frozen=True)
class TextFormat:
    """How the text of a file is stored.

    Attributes:
        encoding: the name of the codec.
        mark: the byte order mark, which is not part of the text.
    """

    encoding: str
    mark: bytes = b""

    @staticmethod
    def of(data: bytes, default: str) -> TextFormat:
        """Return the format of a file that starts with some bytes. Without a byte order mark it is the default."""
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                return TextFormat(encoding, mark)
        return TextFormat(default)

    def decode(self, data: bytes) -> str:
        """Return the text.

        Raises:
            NotText: if the bytes are not valid in the encoding.
        """
        try:
            return data[len(self.mark) :].decode(self.encoding)
        except UnicodeDecodeError as error:
            offset = len(self.mark) + error.start
            raise NotText(f"is not {self.encoding} text: {error.reason} at byte {offset}") from error

    def encode(self, text: str) -> bytes:
        """Return the bytes.

        Raises:
            NotText: if the encoding lacks a character of the text.
        """
        if self.mark:
            text = text.removeprefix("\ufeff")
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            char = f"U+{ord(text[error.start]):04X}"
            raise NotText(f"can't hold the content, because {char} can't be stored as {self.encoding}") from error


class NotText(ValueError):
    """The content of a file can't be decoded, or can't be encoded as it should be.

    Args:
        problem: what is wrong, as the end of a sentence that starts with the path.
    """
