"""What every handler needs: the message that it handles, a task, and somebody who looks at its errors."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from logging import WARNING, getLogger
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from acp_runtime.errors import ConnectionClosed
from acp_runtime.logs import ThrottledLogger
from acp_runtime.options import Direction, InstrumentedMessage, Options
from acp_runtime.stubs import roles
from acp_runtime.stubs.methods import AnyMethod, Profile

if TYPE_CHECKING:
    from acp_runtime.connection.connection import Connection

Handle: TypeAlias = Callable[[Any], Awaitable[Any]]
Observe: TypeAlias = Callable[[Direction, bytes], None]

_WRONG_SIGNATURE = "Handlers are `async def` methods with one argument; `ext_request` and `ext_notification` have two."
# Memory that a message of the usual size takes beside its bytes, once it is models: measured with updates.
MODEL_BYTES = 2000

_logger = getLogger(__name__)


class Message:
    """A request or a notification of the peer, from its arrival to the end of its handler.

    Attributes:
        connection: the connection that it came by.
        wire: its method.
        handle: its handler.
        argument: what the handler is called with.
        size: the memory that it takes, in bytes.
        peer_waits: how many times its handler is waiting for the peer; it may wait in several tasks.
        done: whether its handler has ended. Tasks that it started may still run in its context.
    """

    __slots__ = ("argument", "connection", "done", "handle", "peer_waits", "size", "wire")

    def __init__(self, connection: Connection, wire: str, handle: Handle, argument: Any, length: int) -> None:
        self.connection: Connection = connection
        self.wire: str = wire
        self.handle: Handle = handle
        self.argument: Any = argument
        self.size: int = length + MODEL_BYTES
        self.peer_waits: int = 0
        self.done: bool = False

    def default(self, method: AnyMethod, params: Any, /) -> None:
        """Handle a notification as the connection does by default."""
        self.connection.requests.cancel_by_default(method, params)


# Only connections set it, so it holds their messages.
current: ContextVar[Message | None] = cast("ContextVar[Message | None]", roles.current)


def session_of(profile: Profile, params: Any) -> str | None:
    """Return the session that params belong to; None if they belong to none."""
    if params.__class__ is dict:
        found = params.get(profile.session)
    else:
        found = getattr(params, profile.session_attribute, None)
    return found if isinstance(found, str) else None


async def inside(instrument: Any, message: InstrumentedMessage, handle: Handle, argument: Any) -> Any:
    """Handle a message inside of the context manager of `Options.instrument`."""
    with instrument(message):
        return await handle(argument)


def log_failure(log: ThrottledLogger, wire: str, error: BaseException) -> None:
    """Log the exception of a handler. If its signature is wrong, say what it has to be."""
    if isinstance(error, ConnectionClosed):
        message = "The handler of %s was stopped by the end of a connection: %s"
        log.log(WARNING, "closed", message, wire, error.reason)
        return
    place = error.__traceback__
    if type(error) is TypeError and place is not None and place.tb_next is None:  # not raised by the handler's code
        error.add_note(_WRONG_SIGNATURE)
    log.failed(wire, error)


def leave_if_forked(process_id: int, error: BaseException | None = None) -> None:
    """End this process at once if it is a forked child that has come back to the code of its parent.

    Args:
        process_id: the id of the parent.
        error: what the child's code raised, if anything; decides the exit code.
    """
    if os.getpid() == process_id:
        return
    code = 1
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    elif error is not None:
        traceback.print_exception(error)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there may be none
            stream.flush()
    os._exit(code)


def frame_observer(options: Options) -> Observe | None:
    """Return the function that calls `Options.on_frame` with each line; None if there is none.

    An exception in it is logged and has no other effect (rule 30).
    """
    on_frame, log = options.on_frame, ThrottledLogger(_logger)
    if on_frame is None:
        return None

    def observe(direction: Direction, line: bytes) -> None:
        try:
            on_frame(direction, line, monotonic())
        except KeyboardInterrupt:
            raise
        # SystemExit and pytest's Failed, too: otherwise the messages behind this one would be lost.
        except BaseException as error:
            log.failed("Options.on_frame", error)

    return observe
