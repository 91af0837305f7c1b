"""The options of a connection."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

Direction: TypeAlias = Literal["in", "out"]
OnFrame: TypeAlias = Callable[[Direction, bytes, float], None]
Stderr: TypeAlias = Literal["capture", "inherit"] | Path | Callable[[bytes], None]


class InstrumentedMessage(NamedTuple):
    """A request or a notification that this side sends ("out") or handles ("in").

    Attributes:
        direction: "out" or "in".
        wire: its method, such as `session/prompt`.
        method: the description of its method, such as an `ExtRequest`; None if the schema and this side have none.
        id: its id on the wire; None for a notification.
        session: the id of the session that it belongs to; None if it belongs to none.
        params: a model, or plain JSON.
    """

    direction: Direction
    wire: str
    method: Any
    id: str | int | None
    session: str | None
    params: Any


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a connection. Sizes are in bytes, times in seconds.

    For example:

        options = Options(stderr=Path("agent.log"), exit_deadline=1.0)
        async with spawn_agent(MyClient, "gemini", "--acp", options=options) as agent:
            await agent.initialize(protocol_version=1)

    Attributes:
        max_message_bytes: a longer incoming line closes the connection with `MessageTooLarge`, before all of it is
            read. Sending one raises `OversizedMessage`, because the peer may have the same limit.
        high_water_messages: reading pauses while this many messages wait for their handlers to begin, unless a handler
            is itself waiting for the peer. A batch (version 2) with more messages is refused.
        high_water_bytes: the same for the memory that these messages take.
        flood_factor: the connection closes when all messages that are not yet handled, and the responses that the peer
            doesn't read, take this multiple of `high_water_bytes`.
        max_held_bytes: how much may be held for a session that is being created: updates that arrive before the
            response that names it (beyond the limit they are handled at once), and notifications sent before that
            response (beyond the limit sending raises `GuardError`).
        write_high_water_bytes: sending waits while more than this is unwritten.
        eof_grace: how long handlers may continue after either side closed the connection, before they are cancelled.
        handler_deadline: how long cancelled handlers may take to end before their coroutines are closed. When the peer
            has closed its side, the remaining notifications are discarded if no handler ends within this time. If
            reading is paused and no handler ends within this time, the queue limit doubles. A permission request waits
            for earlier updates, but no longer than this if none of them is handled.
        late_answer_deadline: how long the next prompt of a session waits for the response to a cancelled one.
        flush_deadline: how long writing the last messages may take when a connection closes.
        exit_deadline: `spawn_agent`: how long the agent may take to exit after its stdin was closed, before it gets
            SIGTERM. A second cancellation of the task that leaves the block (Ctrl-C again) shortens this and the next.
        terminate_deadline: `spawn_agent`: how long the agent may take to exit after SIGTERM, before it is killed. The
            same holds for processes that it leaves behind in its process group.
        guards: what happens to a call that the protocol forbids (rules 25 to 28): "raise" raises before anything is
            sent, "warn" sends it and logs a warning, "off" skips the check. An incoming request that comes too early is
            answered with -32600, and one with a relative path, or with something that an agent must reject, with
            -32602. With "warn", it is handled with a warning, with "off" without one. With "raise" and "warn", anything
            else that the protocol forbids in a message is logged as a warning, and the message is handled.
        disclose_errors: whether the peer gets the text of an unexpected exception in a handler. It may contain secrets.
        stderr: `spawn_agent`: where the agent's stderr goes. "inherit" passes it on to this process's stderr, "capture"
            does not (for full-screen programs), a path appends it to that file, and a callable gets each chunk of
            bytes, in a thread. In each case, the end is kept. A destination that blocks delays only the agent.
        stderr_tail: `spawn_agent`: how many bytes of the agent's stderr are kept, for `ConnectionClosed`.
        inherit_env: `spawn_agent`: the environment variables of this process that the agent gets: all (True), the few
            that every program needs, such as PATH and HOME (False), or those with the given names.
        on_frame: called for each message with "in" or "out", the line without its newline, and `time.monotonic()`.
            Lines may contain secrets; see `acp_kit.frame_log.redact`.
        instrument: called with each request and notification that is sent or handled. Returns a context manager, which
            is entered before the message is sent or its handler starts, and left when the response has arrived, the
            notification has been sent or the handler has ended. For a message that is sent, it yields the params to
            send. If it raises, so does the call or the handler. It must not suppress exceptions.
    """

    max_message_bytes: int = 64 * 1024 * 1024
    high_water_messages: int = 4096
    high_water_bytes: int = 16 * 1024 * 1024
    flood_factor: int = 16
    max_held_bytes: int = 16 * 1024 * 1024
    write_high_water_bytes: int = 64 * 1024
    eof_grace: float = 0.5
    handler_deadline: float = 5.0
    late_answer_deadline: float = 10.0
    flush_deadline: float = 2.0
    exit_deadline: float = 5.0
    terminate_deadline: float = 2.0
    guards: Literal["raise", "warn", "off"] = "raise"
    disclose_errors: bool = False
    stderr: Stderr = "inherit"
    stderr_tail: int = 8 * 1024
    inherit_env: bool | Collection[str] = True
    on_frame: OnFrame | None = None
    instrument: Callable[[InstrumentedMessage], AbstractContextManager[Any]] | None = None

    def __post_init__(self) -> None:
        """Check the values: a wrong one could hang a connection, or let what the guards forbid pass.

        Raises:
            TypeError: if a size is not an integer, or a time is not a number.
            ValueError: if a size or a time is too small, or `guards` is not one of its values.
        """
        for field in fields(self):
            if field.type == "int":
                _check(field.name, getattr(self, field.name), int, "an integer", field.name not in _MAY_BE_ZERO)
            elif field.type == "float":
                _check(field.name, getattr(self, field.name), (int, float), "a number of seconds", 0)
        if self.guards not in ("raise", "warn", "off"):
            raise ValueError(f"Options.guards must be 'raise', 'warn' or 'off', not {self.guards!r}.")


_MAY_BE_ZERO = ("max_held_bytes", "write_high_water_bytes", "stderr_tail")


def _check(name: str, value: Any, kind: Any, kind_name: str, minimum: int) -> None:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"Options.{name} must be {kind_name}, not {value!r}.")
    if not value >= minimum:
        raise ValueError(f"Options.{name} must be at least {minimum:d}, not {value!r}.")


DEFAULT_OPTIONS = Options()
