"""Runs an agent for an editor: passes on stdin, stdout, stderr, signals and the exit code."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from subprocess import PIPE
from threading import Thread
from types import FrameType
from typing import IO, cast

from acp_kit.common.command_line import explain_start
from acp_kit.local.orphan_guard import OrphanGuard
from acp_kit.recording.file_format import Direction
from acp_kit.tap.recorder import Recorder

_CHUNK_BYTES = 64 * 1024
# After the agent's exit, a descendant may keep its stdout open forever. If nothing comes for this time, in seconds, the
# tap ends.
_SILENCE = 1.0
# How often to check for a signal, in seconds.
_POLL_INTERVAL = 1.0
# How long Python lets a thread run while others wait, in seconds. It is short, because recording must not delay them.
_SWITCH_INTERVAL = 1e-4
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def tap(command: Sequence[str], file: Path) -> int:
    """Start an agent, and pass on and record everything until it ends. If a signal ends it, end with this signal.

    If this process is killed, the agent is killed, too.

    Args:
        command: the agent and its arguments.
        file: the recording. Lines are appended to it.

    Returns:
        The agent's exit code, or 127 if it can't be started.

    Raises:
        OSError: if the recording can't be opened.
    """
    recorder = Recorder(file)
    guard = OrphanGuard()
    try:
        agent = _start(command)
    except OSError as error:
        guard.close()
        problem = f"acp-bindings tap: {explain_start(error, command)}\n"
        sys.stderr.write(problem)
        recorder.note("stderr", problem.encode(errors="surrogateescape"))
        recorder.close()
        return 127
    # The agent stays in the process group of the editor, so that Ctrl-C reaches it.
    guard.guard_process(agent.pid)
    assert agent.stdin
    assert agent.stdout
    assert agent.stderr
    forwarded = _forward_signals(agent)
    sys.setswitchinterval(_SWITCH_INTERVAL)
    _Stream(recorder, "c2a", FileIO(0), agent.stdin).start()
    outputs = [
        _Stream(recorder, "a2c", agent.stdout, FileIO(1, "w")),
        # stderr stays open for the tap's own messages.
        _Stream(recorder, "stderr", agent.stderr, FileIO(2, "w", closefd=False)),
    ]
    for stream in outputs:
        stream.start()
    while (code := agent.poll()) is None:
        # In a loop, because a signal just before the wait doesn't interrupt it.
        with suppress(subprocess.TimeoutExpired):
            agent.wait(_POLL_INTERVAL)
    guard.close()
    for stream in outputs:
        stream.drain()
    if code and -code not in forwarded:
        end = f"exited with {code}" if code > 0 else f"was ended by {signal.Signals(-code).name}"
        recorder.note("stderr", f"acp-bindings tap: the agent {end}\n".encode())
    recorder.close()
    if code < 0:
        _end_by_signal(-code)
    return code


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    program = command[0]
    if sys.platform == "win32":
        from acp_runtime.commands import find_program  # imported on use: other systems don't need it

        program = find_program(program, command[1:], os.environ)
    return subprocess.Popen([program, *command[1:]], bufsize=0, stdin=PIPE, stdout=PIPE, stderr=PIPE)


def _end_by_signal(number: int) -> None:
    """End this process by the signal that ended the agent, so that the editor sees it."""
    with suppress(OSError):  # SIGKILL can't be changed
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


class _Stream(Thread):
    """Passes on the bytes of one direction.

    At the end of the source, the target is closed. If the reader of the target closes it, the source is closed, so that
    its writer gets the same error as without the tap.
    """

    def __init__(self, recorder: Recorder, direction: Direction, source: IO[bytes], target: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._recorder = recorder
        self._direction: Direction = direction
        self._source = source
        self._target = target
        self._chunk_count = 0
        self._is_reading = False

    def run(self) -> None:
        with suppress(OSError), self._source, self._target:
            while True:
                self._is_reading = True
                data = self._source.read(_CHUNK_BYTES)
                self._is_reading = False
                if not data:
                    return
                self._chunk_count += 1
                self._recorder.note(self._direction, data)
                rest = memoryview(data)
                while rest:
                    written = cast("int | None", self._target.write(rest))
                    if written is None:  # somebody who shares it has set O_NONBLOCK
                        with selectors.DefaultSelector() as selector:
                            selector.register(self._target, selectors.EVENT_WRITE)
                            selector.select()
                    rest = rest[written or 0 :]

    def drain(self) -> None:
        """Wait until everything was passed on, or nothing has come for a while."""
        count = -1
        while self.is_alive() and not (self._is_reading and self._chunk_count == count):
            count = self._chunk_count
            self.join(_SILENCE)


def _forward_signals(agent: subprocess.Popen[bytes]) -> set[int]:
    """Forward signals to the agent. Return the set to which each received signal is added."""
    forwarded: set[int] = set()

    def forward(number: int, frame: FrameType | None) -> None:
        forwarded.add(number)
        if number != signal.SIGINT or not _is_in_foreground():
            agent.send_signal(number)

    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, forward)
    return forwarded


def _is_in_foreground() -> bool:
    """Whether this process is in the foreground of a terminal, so that Ctrl-C reaches the agent, too."""
    try:
        with open("/dev/tty", "rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except (OSError, AttributeError):
        return sys.platform == "win32"
