"""What can be set on a connection, with units."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Direction: TypeAlias = Literal["in", "out"]
OnFrame: TypeAlias = Callable[[Direction, bytes, float], None]
Stderr: TypeAlias = Literal["capture", "inherit"] | Path | Callable[[bytes], None]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a connection behaves where the protocol leaves a choice. Sizes are bytes, times are seconds.

    Attributes:
        max_message_bytes: a longer incoming line closes the connection with `MessageTooLarge`, before it is all read.
        high_water_messages: how many requests run at a time; further ones wait. Reading pauses while this many
            messages wait.
        high_water_bytes: reading pauses while the messages that wait take this much memory. Requests wait while those
            that run take this much; a large one counts for a sixteenth of it.
        flood_factor: if all handlers await the peer, reading continues; the connection closes when messages take this
            multiple of `high_water_bytes`.
        max_held_bytes: how much may be held for a session that is being created: updates that arrive before the answer
            that names it (beyond the limit they are handled early), and notifications sent before that answer (beyond
            it sending raises `GuardError`).
        write_high_water_bytes: a send waits while more than this is unwritten.
        unread_answer_bytes: reading pauses while the peer leaves more than this of its answers unread, unless it owes
            answers itself; at `flood_factor` times as much the connection closes.
        eof_grace: how long handlers may go on after the peer closed its side, before they are cancelled.
        handler_deadline: how long cancelled handlers may take to end before they are abandoned. After the peer closed
            its side: how long no handler of a notification may finish before the rest is abandoned.
        late_answer_deadline: how long the next prompt of a session waits for the answer to one that was cancelled.
        flush_deadline: how long the last messages may take to be written when a connection closes.
        exit_deadline: `spawn_agent`: how long the agent may take to exit after its stdin closed, before it gets
            SIGTERM. Cancelling the task that leaves the block again (a second Ctrl-C) shortens this and the next.
        terminate_deadline: `spawn_agent`: how long it may take after SIGTERM, before it is killed. The same goes for
            the processes that it leaves behind in its process group.
        guards: what happens to a call that the protocol forbids (rules 25 to 28): it raises before anything is sent,
            it is sent with a warning in the log, or nobody looks. An incoming request that comes too early is
            answered -32600, logged, or handled, respectively.
        disclose_errors: whether the peer reads the text of an unexpected exception in a handler. It can contain
            anything, secrets included.
        stderr: `spawn_agent`: where the agent's stderr goes. "inherit" passes it on to this process's stderr,
            "capture" does not (for full-screen programs), a path appends it to that file, and a callable gets each
            chunk of bytes. In each case all of it is read, and the end of it kept.
        stderr_tail: `spawn_agent`: how many bytes of the agent's stderr are kept, for `ConnectionClosed`.
        inherit_env: `spawn_agent`: which of this process's environment variables the agent gets: all of them (True),
            the few that every program needs, such as PATH and HOME (False), or those of these names.
        on_frame: called with "in" or "out", the line without its end, and `time.monotonic()`. Lines hold secrets;
            see `acp_runtime.logs.redact`.
    """

    max_message_bytes: int = 64 * 1024 * 1024
    high_water_messages: int = 4096
    high_water_bytes: int = 16 * 1024 * 1024
    flood_factor: int = 16
    max_held_bytes: int = 16 * 1024 * 1024
    write_high_water_bytes: int = 64 * 1024
    unread_answer_bytes: int = 16 * 1024 * 1024
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


DEFAULT_OPTIONS = Options()
