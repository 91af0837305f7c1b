"""What goes to the log: escaped, short, and not ten thousand times (rule 30).

Loggers are called `acp_runtime.<module>`. No payload is logged, at any level; frames are seen by
`Options.on_frame` alone. Logging raises nothing: the handlers and filters of an application's log are not ours.
"""

from __future__ import annotations

from logging import ERROR, Logger
from typing import Any

from pydantic_core import to_json

from acp_runtime.escaping import printable
from acp_runtime.jsonrpc.placeholders import dump
from acp_runtime.jsonrpc.tolerant import Unreadable, parse
from acp_runtime.models.json_values import as_array, as_object

_OFTEN = 5
# How many kinds of event are counted apart. All that come later are counted as one.
_MAX_KINDS = 100
_HIDDEN = "[redacted]"
_SECRET = ("env", "headers")


def log(logger: Logger, level: int, message: str, *args: object, error: BaseException | None = None) -> None:
    """Log an event, `args` escaped. Whatever an application's handlers and filters raise, this does not."""
    try:
        if logger.isEnabledFor(level):
            logger.log(level, message, *(printable(str(arg)) for arg in args), exc_info=error)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return  # what is no Exception, too: pytest's Failed, for one


class ThrottledLogger:
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
        """Log an event of a kind, as `acp_runtime.logs.log` does."""
        if not self._logger.isEnabledFor(level):
            return
        if kind not in self._counts and len(self._counts) >= _MAX_KINDS:
            kind = ""
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        if count <= _OFTEN or str(count).strip("0") == "1":
            suffix = f" ({count} times so far)" if count >= _OFTEN else ""
            log(self._logger, level, f"{message}%s", *args, suffix, error=error)


def redact(line: bytes) -> bytes:
    """A frame without the values of `env` and `headers`, for those who log frames.

    A line that isn't JSON gives a note of its size.
    """
    try:
        value, fault = parse(line)
    except Unreadable as error:
        value, fault = None, error.reason
    if fault:
        return b'"%d bytes that are not JSON"' % len(line)
    waiting = [value]
    while waiting:
        each = waiting.pop()
        fields = as_object(each)
        if fields is not None:
            fields.update({key: _hidden(fields[key]) for key in _SECRET if key in fields})
            waiting += [value for key, value in fields.items() if key not in _SECRET]
        waiting += as_array(each) or ()
    return dump(value, to_json, level=0)


def _hidden(value: Any) -> Any:
    """Variables or headers, as an object or as a list of names and values, with their names alone."""
    items = as_array(value)
    return _names(value) if items is None else [_names(each) for each in items]


def _names(value: Any) -> Any:
    fields = as_object(value)
    if fields is None:
        return _HIDDEN
    name = fields.get("name") if "value" in fields else None
    return {key: name if key == "name" and isinstance(name, str) else _HIDDEN for key in fields}
