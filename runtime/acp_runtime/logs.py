"""What goes to the log: escaped, short, and not ten thousand times (rule 30).

Loggers are called `acp_runtime.<module>`. No payload is logged, at any level; frames are seen by
`Options.on_frame` alone.
"""

from __future__ import annotations

from logging import ERROR, Logger
from typing import Any

from pydantic_core import from_json, to_json

from acp_runtime.json_values import as_array, as_object

_OFTEN = 5
_HIDDEN = "[redacted]"
_SECRET = ("env", "headers")


def printable(text: str | bytes, limit: int = 200) -> str:
    """Text of the peer's, fit for a terminal: control characters escaped, at most `limit` characters."""
    decoded = text[: 4 * limit].decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text[: limit + 1]
    escaped = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in decoded)
    return escaped if len(escaped) <= limit else f"{escaped[:limit]}..."


class Throttle:
    """Logs a kind of event the first few times, then each time its count reaches a power of ten."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._counts: dict[str, int] = {}

    def failed(self, method: str, error: BaseException) -> None:
        """Log what a handler raised, with its traceback. Of one kind is what one line of code raises."""
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = "" if place is None else f" {place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
        self.log(ERROR, f"{type(error).__name__}{where}", "The handler of %s failed", method, error=error)

    def log(self, level: int, kind: str, message: str, *args: object, error: BaseException | None = None) -> None:
        """Log an event of a kind. `args` are escaped."""
        if not self._logger.isEnabledFor(level):
            return
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        if count > _OFTEN and str(count).strip("0") != "1":
            return
        suffix = f" ({count} times so far)" if count >= _OFTEN else ""
        self._logger.log(level, f"{message}%s", *(printable(str(arg)) for arg in args), suffix, exc_info=error)


def redact(line: bytes) -> bytes:
    """A frame without the values of `env` and `headers`, for those who log frames.

    A line that isn't JSON gives a note of its size.
    """
    try:
        return to_json(_redacted(from_json(line)))
    except ValueError:
        return b'"%d bytes that are not JSON"' % len(line)


def _redacted(value: Any) -> Any:
    fields, items = as_object(value), as_array(value)
    if fields is not None:
        return {key: _hidden(each) if key in _SECRET else _redacted(each) for key, each in fields.items()}
    return value if items is None else [_redacted(each) for each in items]


def _hidden(value: Any) -> Any:
    """Variables or headers, as an object or as a list of names and values, with their names alone."""
    fields, items = as_object(value), as_array(value)
    if fields is not None:
        return {key: each if key == "name" and "value" in fields else _HIDDEN for key, each in fields.items()}
    return _HIDDEN if items is None else [_hidden(each) for each in items]
