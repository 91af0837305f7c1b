"""Reads and writes recordings of the messages between a client and an agent.

Each line of a recording is a JSON object with `time` (seconds since 1970), `direction`, and either `message` (the JSON
of one line on the wire) or `line` (text that isn't JSON). The direction is `c2a` (client to agent), `a2c` (agent to
client) or `stderr` (of the agent). `dir` and `msg` are read as short names of these, and `time` may be missing. The
files of `acp_kit.frame_log` are recordings of one side, with the directions `in` and `out`.

This module doesn't import the runtime, so that commands that use it start quickly.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, cast

Direction: TypeAlias = Literal["c2a", "a2c", "stderr"]

# These methods show which side has written a log of one side.
_SENT_BY_CLIENTS = {"initialize", "authenticate", "session/new", "session/load", "session/prompt", "session/cancel"}
_SENT_BY_AGENTS = {"session/update", "session/request_permission", "fs/read_text_file", "fs/write_text_file"}


class WireLine(NamedTuple):
    """A line on the wire, or of stderr.

    Attributes:
        time: its time, in seconds since 1970.
        direction: the client's line (`c2a`), the agent's (`a2c`), or the agent's on stderr.
        data: its bytes.
    """

    time: float
    direction: Direction
    data: bytes


class Recorded(NamedTuple):
    """A recorded line.

    Attributes:
        number: its number in the recording, counted from 1.
        direction: the client's line (`c2a`), the agent's (`a2c`), or the agent's on stderr.
        time: its time, in seconds since 1970; None if it was not recorded.
        message: its JSON; None if it isn't JSON.
        line: its text if it isn't JSON; None otherwise.
    """

    number: int
    direction: Direction
    time: float | None
    message: Any
    line: str | None


def read_recording(path: str | Path) -> list[Recorded]:
    """Return the lines of a recording.

    Lines that were cut off, because the recording process was killed, are left out.

    Raises:
        OSError: if the file can't be read.
        ValueError: if it isn't a recording. The message names the line.
    """
    entries: list[tuple[int, dict[str, Any]]] = []
    has_text = False
    for number, data in enumerate(Path(path).read_bytes().split(b"\n"), 1):
        has_text = has_text or bool(data.strip())
        try:
            entry = json.loads(data)
        except ValueError:
            continue
        if not isinstance(entry, dict):
            raise ValueError(f"{path}, line {number}: not an object with a direction and a message")
        entries.append((number, cast("dict[str, Any]", entry)))
    if has_text and not entries:
        raise ValueError(f"{path} is not a recording: none of its lines is a JSON object")
    directions: dict[str, Direction] = {"c2a": "c2a", "a2c": "a2c", "stderr": "stderr"}
    directions |= _sides(entry for _, entry in entries)
    recording: list[Recorded] = []
    for number, entry in entries:
        direction = directions.get(str(entry.get("direction", entry.get("dir"))))
        if direction is None:
            raise ValueError(f"{path}, line {number}: `direction` is not c2a, a2c or stderr")
        message, line = entry.get("message", entry.get("msg")), entry.get("line")
        if isinstance(message, str):  # the note of a frame log about a line that isn't JSON
            message, line = None, message
        recording.append(Recorded(number, direction, entry.get("time"), message, line))
    return recording


def format_entry(time: float | None, direction: Direction, data: bytes) -> bytes:
    """Return a line on the wire, or of stderr, as a line of a recording. JSON is not changed."""
    if direction != "stderr" and _is_json(data):
        value = b'"message":%b' % data.strip()
    else:
        value = b'"line":%b' % json.dumps(data.decode(errors="backslashreplace")).encode()
    time_member = b"" if time is None else b'"time":%.6f,' % time
    return b'{%b"direction":"%b",%b}\n' % (time_member, direction.encode(), value)


def format_recorded(recorded: Recorded) -> bytes:
    """Return a recorded line as a line of a recording."""
    text = json.dumps(recorded.message) if recorded.line is None else recorded.line
    return format_entry(recorded.time, recorded.direction, text.encode(errors="backslashreplace"))


def _is_json(data: bytes) -> bool:
    # Faster than `json`, so that a tap delays messages less. Imported on use, so that a tap starts quickly.
    from pydantic_core import from_json

    try:
        from_json(data, allow_inf_nan=False)
    except ValueError:
        return b"\\u" in data and _is_json_with_lone_surrogates(data)
    return True


def _is_json_with_lone_surrogates(data: bytes) -> bool:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(data, parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _sides(entries: Iterable[dict[str, Any]]) -> dict[str, Direction]:
    """Return the directions of `in` and `out`, by the first message that only one side can have sent."""
    for entry in entries:
        message = entry.get("message")
        method = cast("dict[str, Any]", message).get("method") if isinstance(message, dict) else None
        if entry.get("direction") in ("in", "out") and method in _SENT_BY_CLIENTS | _SENT_BY_AGENTS:
            is_client = (method in _SENT_BY_CLIENTS) == (entry["direction"] == "out")
            return {"out": "c2a", "in": "a2c"} if is_client else {"out": "a2c", "in": "c2a"}
    return {}
