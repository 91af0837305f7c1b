"""Messages of the peer whose handlers have not ended: whether such a handler waits for the peer, and its task."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from logging import WARNING
from typing import Any, TypeAlias, TypeVar, cast

from acp_runtime.connection.limits import Limits
from acp_runtime.errors import ConnectionClosed
from acp_runtime.jsonrpc.error_responses import sole_error
from acp_runtime.logs import ThrottledLogger
from acp_runtime.stubs import roles
from acp_runtime.stubs.methods import AnyMethod

T = TypeVar("T")

Handle: TypeAlias = Callable[[Any], Awaitable[Any]]
# What the connection does for a notification whose handler is not overridden.
Default: TypeAlias = Callable[[AnyMethod, Any], None]
Ended: TypeAlias = Callable[["asyncio.Task[None]"], object]

_WRONG_SIGNATURE = "Handlers are `async def` methods with one argument; `ext_request` and `ext_notification` have two."


@dataclass(slots=True, eq=False, repr=False)
class InFlight:
    """A request or a notification of the peer, from its arrival to the end of its handler.

    Attributes:
        wire: its method.
        handle: its handler.
        argument: what the handler is called with.
        size: the memory that it takes, in bytes.
        limits: counts the messages of the connection that it came by.
        default: what that connection does for a notification whose handler is not overridden.
        done: whether its handler has ended. Tasks that it started may still run in its context.
    """

    wire: str
    handle: Handle
    argument: Any
    size: int
    limits: Limits
    default: Default
    done: bool = field(default=False, init=False)
    # How many times its handler is waiting for the peer; it may wait in several tasks.
    _peer_waits: int = field(default=0, init=False)

    def end(self) -> None:
        """Note that its handler has ended."""
        self.limits.remove(self.size)
        if self._peer_waits:
            self.limits.unblock()  # tasks that the handler left behind no longer count
        self.done = True

    def begin_wait(self) -> None:
        """Note that its handler waits for the peer."""
        self._peer_waits += 1
        if self._peer_waits == 1:
            self.limits.block()

    def end_wait(self) -> None:
        """Note that such a wait has ended."""
        self._peer_waits -= 1
        if not self._peer_waits and not self.done:
            self.limits.unblock()


class InFlightNotification(InFlight):
    """A notification of the peer."""

    __slots__ = ()


class Tasks:
    """Creates the tasks of one connection.

    Attributes:
        running: those that have not ended, each with the function that is called then, and its context.
        started: those of `running` that the application has started.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self.running: dict[asyncio.Task[None], tuple[Ended, Context]] = {}
        self.started: set[asyncio.Task[None]] = set()

    def create(
        self,
        coroutine: Coroutine[Any, Any, None],
        ended: Ended = lambda _: None,
        context: Context | None = None,
    ) -> asyncio.Task[None]:
        """Create a task that starts in a later iteration of the event loop. Call `ended` with it when it has ended."""
        # Handlers must not inherit the context variables of the code that lets them start. An eager task factory must
        # not run them here (Python 3.12): their sessions and requests are not complete yet.
        if context is None:
            context = self._context.copy()
        task = asyncio.Task(coroutine, loop=self._loop, context=context)
        self.running[task] = ended, context
        task.add_done_callback(self._task_ended)
        return task

    def start(self, coroutine: Coroutine[Any, Any, object], log: ThrottledLogger) -> asyncio.Task[None]:
        """Create a task for the application. It inherits the context of the caller, and so its message.

        Args:
            coroutine: runs in the task.
            log: for the exception that it raises.
        """

        def ended(task: asyncio.Task[None]) -> None:
            self.started.discard(task)
            with suppress(RuntimeError):  # from an abandoned one that waits for something in its clean-up
                coroutine.close()  # it has not begun if the task was cancelled before

        task = self.create(_log_errors(coroutine, log), ended, copy_context())
        self.started.add(task)
        return task

    def forget(self, task: asyncio.Task[None]) -> None:
        """Call nothing when a task has ended, which saves an iteration of the event loop: it has done everything."""
        del self.running[task]
        task.remove_done_callback(self._task_ended)

    def abandon(self, task: asyncio.Task[None]) -> None:
        """End a task that ignores its cancellation, by closing its coroutine: the handler gets a `GeneratorExit`.

        Otherwise `asyncio.run`, which cancels all tasks and waits for them, would wait for this one forever. Its
        `ended` is called now, because the task may wait for another one that ignores its cancellation, too.
        """
        ended, context = self.running[task]
        with suppress(RuntimeError):  # from a transport that waits for something in its clean-up
            context.run(task.get_coro().close)  # where the handler's clean-up may reset context variables
        del self.running[task]
        ended(task)
        task.remove_done_callback(self._task_ended)
        task.add_done_callback(_ignore_error)  # a closed coroutine can't be resumed
        task.cancel()

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        ended, _ = self.running.pop(task)
        ended(task)
        # Looked at, so that asyncio doesn't log a KeyboardInterrupt as well, which has left the event loop.
        if not task.cancelled() and (error := task.exception()) and isinstance(error, Exception):
            raise error


async def _log_errors(coroutine: Coroutine[Any, Any, object], log: ThrottledLogger) -> None:
    try:
        await coroutine
    except (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError):
        raise
    except BaseException as error:  # SystemExit, too: asyncio would stop the loop
        log_failure(log, getattr(coroutine, "__qualname__", "of the application"), error, "The task")


def _ignore_error(task: asyncio.Task[None]) -> None:
    """Look at the error of a task, so that asyncio doesn't log it."""
    if not task.cancelled():
        task.exception()


# Only connections set it, so it holds their messages.
current: ContextVar[InFlight | None] = cast("ContextVar[InFlight | None]", roles.current)


def begin_wait_for_peer(limits: Limits) -> InFlight | None:
    """Count the current handler, if it is one of this connection, as waiting for the peer. Return its message."""
    message = current.get()
    if message is None or message.done or message.limits is not limits:
        return None
    message.begin_wait()
    return message


async def wait_for_peer(limits: Limits, event: Awaitable[T]) -> T:
    """Wait for something that the peer does, while the current handler counts as waiting for it."""
    message = begin_wait_for_peer(limits)
    try:
        return await event
    finally:
        if message is not None:
            message.end_wait()


def log_failure(log: ThrottledLogger, name: str, error: BaseException, kind: str = "The handler of") -> None:
    """Log the exception of a handler or a task. If a handler's signature is wrong, say what it has to be."""
    sole = sole_error(error)
    if isinstance(sole, ConnectionClosed):
        message = f"{kind} %s was stopped by the end of a connection: %s"
        log.log(WARNING, "closed", message, name, sole.reason)
        return
    roles.explain_positional(error)
    place = error.__traceback__
    if type(error) is TypeError and place is not None and place.tb_next is None:  # not raised by the handler's code
        error.add_note(_WRONG_SIGNATURE)
    log.failed(name, error, kind)
