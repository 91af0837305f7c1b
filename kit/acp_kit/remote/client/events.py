"""Parses server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), without I/O.

`httpx2.EventSource` isn't used: it loses an event after a byte order mark, delays an event that ends with CR until more
is received, and replaces invalid UTF-8, which the decoder of messages must see.
"""

from __future__ import annotations

import re

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FIELD_NAME_BYTES = len(b"data: ")


class EventParser:
    """Parses chunks of bytes into events.

    Args:
        max_bytes: the size of the largest event, in bytes.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes + _FIELD_NAME_BYTES
        self._line = bytearray()
        self._is_first_line = True
        self._after_cr = False
        self._kind = b""
        self._data = bytearray()  # its lines, each with a newline

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the data of the messages that this chunk completes. Events of other kinds are ignored.

        Raises:
            ValueError: if an event is too large.
        """
        after_cr = self._after_cr and chunk.startswith(b"\n")  # the second half of CRLF
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        *ended, unended = _LINE_END.split(chunk[after_cr:])
        messages: list[bytes] = []
        for end_of_line in ended:
            self._extend(end_of_line)
            if (message := self._end_line()) is not None:
                messages.append(message)
        self._extend(unended)
        return messages

    def _extend(self, part: bytes) -> None:
        self._line += part
        if len(self._data) + len(self._line) > self._max_bytes:
            raise ValueError(f"The agent sent an event of more than {self._max_bytes - _FIELD_NAME_BYTES} bytes.")

    def _end_line(self) -> bytes | None:
        """Handle a line. Return the data of a message if the line ends one."""
        line = bytes(self._line)
        self._line.clear()
        if self._is_first_line:
            self._is_first_line = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            return self._end_event()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data += value + b"\n"
        elif name == b"event":
            self._kind = value
        return None

    def _end_event(self) -> bytes | None:
        kind = self._kind
        data = bytes(self._data[:-1])
        self._kind = b""
        self._data = bytearray()
        return data if data and kind in (b"", b"message") else None
