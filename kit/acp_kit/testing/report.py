"""What has passed between the two sides of a test: for the report of one that fails, and as a recording."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any, Literal

from acp_kit.recording import Direction, format_entry
from acp_runtime import Options

RECORD = "ACP_RECORD"
"""The environment variable with the folder for recordings, which `acp_kit.testing.pytest_plugin` sets."""

_SHOWN = 12
_LENGTH = 300
_saved: Counter[str] = Counter()


class Report:
    """Keeps what passes between a client and an agent.

    Attributes:
        options: the options of the connection, by which it gets the messages and the agent's stderr.
    """

    def __init__(self, options: Options, sent: Direction = "c2a", received: Direction = "a2c") -> None:
        self._directions: dict[str, Direction] = {"out": sent, "in": received}
        stderr = self._add_stderr if options.stderr == "inherit" else options.stderr
        self.options: Options = replace(options, on_frame=self._add_frame, stderr=stderr)
        self._on_frame = options.on_frame
        self._entries: list[tuple[float, Direction, bytes]] = []
        self._rest = b""  # of stderr: a line that hasn't ended

    def pending(self) -> list[str]:
        """Return which requests have no answer, in words."""
        asked: dict[tuple[str, str], str] = {}
        for _, direction, line in self._entries:
            sender, other = ("client", "agent") if direction == "c2a" else ("agent", "client")
            match json.loads(format_entry(0, direction, line)).get("message"):
                case {"method": method, "id": id}:
                    asked[sender, json.dumps(id)] = f"the {sender} waits for the answer to {method}"
                case {"id": id}:
                    asked.pop((other, json.dumps(id)), None)
                case _:
                    pass
        return [*asked.values()]

    def notes(self) -> list[str]:
        """Return the last messages, and the end of stderr."""
        self._end_stderr()
        arrows = {"c2a": "-> ", "a2c": "<- "}
        messages = [arrows[way] + _short(line) for _, way, line in self._entries if way != "stderr"]
        stderr = [_short(line) for _, way, line in self._entries if way == "stderr"]
        parts = {"The last messages (-> to the agent, <- from it):": messages, "The agent's stderr:": stderr}
        return ["\n  ".join([title, *lines[-_SHOWN:]]) for title, lines in parts.items() if lines]

    def save(self) -> None:
        """Write a recording, if that was asked for."""
        folder = os.environ.get(RECORD)
        if folder is None:
            return
        self._end_stderr()
        test = os.environ.get("PYTEST_CURRENT_TEST", "connect (call)").rpartition(" ")[0]
        name = re.sub(r"[^\w.-]+", "-", test)[-150:]
        _saved[name] += 1
        path = Path(folder, f"{name}-{_saved[name]}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.writelines(format_entry(*entry) for entry in self._entries)

    def _add_frame(self, direction: Literal["in", "out"], line: bytes, seconds: float) -> None:
        self._entries.append((time(), self._directions[direction], line))
        if self._on_frame is not None:
            self._on_frame(direction, line, seconds)

    def _end_stderr(self) -> None:
        if self._rest:
            self._add_stderr(b"\n")

    def _add_stderr(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._entries.append((time(), "stderr", line))


@asynccontextmanager
async def reported(report: Report, deadline: float, *sides: object) -> AsyncGenerator[None]:
    """Fail at the deadline, and add the report to an exception that leaves the block."""
    scripts: list[Any] = [side for side in sides if isinstance(getattr(side, "where", None), str)]
    waiting: list[str] = []

    def note_waiting() -> None:
        waiting.extend([script.where for script in scripts] + report.pending())

    # Before the timeout cancels the block, which lets the scripts go on.
    timer = asyncio.get_running_loop().call_later(deadline, note_waiting)
    limit = asyncio.timeout(deadline)
    try:
        async with limit:
            yield
    except BaseException as error:
        if limit.expired() and isinstance(error, TimeoutError):
            error.args = (f"Not done after {deadline:g} seconds: {'; '.join(waiting)}.",)
        elif scripts:
            error.add_note(f"At the end, {'; '.join(script.where for script in scripts)}.")
        for note in report.notes():
            error.add_note(note)
        raise
    finally:
        timer.cancel()
        report.save()


def _short(line: bytes) -> str:
    text = line.decode(errors="replace").replace('"jsonrpc":"2.0",', "", 1)
    return text if len(text) <= _LENGTH else f"{text[: _LENGTH - 3]}..."
