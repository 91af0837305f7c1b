"""Logs events: escaped, short, and limited when they repeat (rule 30).

Loggers are named `acp_runtime.<module>`. No payload is logged at any level; only `Options.on_frame` sees frames.
Logging never raises, even if a handler or filter that the application installed does.
"""

from __future__ import annotations

from logging import ERROR, Formatter, Logger, LogRecord

from acp_runtime.escaping import printable, printable_lines

# How many events of a kind are logged before they are throttled.
_UNTHROTTLED = 5
# How many kinds of event are counted separately. All further kinds share one counter.
_MAX_KINDS = 100


def log(logger: Logger, level: int, message: str, *args: object, error: BaseException | None = None) -> None:
    """Log an event with `args` escaped. Raises only KeyboardInterrupt, whatever the application's handlers raise."""
    try:
        if logger.isEnabledFor(level):
            if error is not None:
                logger.addFilter(_escape_traceback)
            logger.log(level, message, *(printable(str(arg)) for arg in args), exc_info=error)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return  # BaseException, because some errors of handlers are not Exceptions, such as pytest's Failed


def _escape_traceback(record: LogRecord) -> bool:
    """Escape the text of a traceback, which may contain text of the peer. Log every record."""
    if record.exc_info and not record.exc_text:
        record.exc_text = printable_lines(Formatter().formatException(record.exc_info))
    return True


class ThrottledLogger:
    """Logs a kind of event the first few times, then each time its count reaches a power of ten."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._counts: dict[str, int] = {}

    def failed(self, name: str, error: BaseException, kind: str = "The handler of") -> None:
        """Log an exception of a handler or a task, with its traceback. Those of the same line are of one kind."""
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = "" if place is None else f" {place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
        self.log(ERROR, f"{type(error).__name__}{where}", f"{kind} %s failed", name, error=error)

    def log(self, level: int, kind: str, message: str, *args: object, error: BaseException | None = None) -> None:
        """Log an event of the given kind, as `acp_runtime.logs.log` does."""
        if not self._logger.isEnabledFor(level):
            return
        if kind not in self._counts and len(self._counts) >= _MAX_KINDS:
            kind = ""
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        if count <= _UNTHROTTLED or str(count).strip("0") == "1":
            suffix = f" ({count} times so far)" if count >= _UNTHROTTLED else ""
            log(self._logger, level, f"{message}%s", *args, suffix, error=error)
