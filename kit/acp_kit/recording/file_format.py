"""Reads and writes recordings of the messages between a client and an agent.

Each line of a recording is a JSON object with `time` (seconds since 1970), `direction`, and either `message` (the JSON
of one line on the wire) or `line` (text that isn't JSON). The direction is `c2a` (client to agent), `a2c` (agent to
client) or `stderr` (of the agent). `dir` and `msg` are read as short names of these, and `time` may be missing. The
files of `acp_kit.frame_log` are recordings of one side, with the directions `in` and `out`.

This module doesn't import the runtime, so that commands that use it start quickly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypeAlias, cast

from acp_kit.common.json_values import member

Direction: TypeAlias = Literal["c2a", "a2c", "stderr"]

OPPOSITE: dict[Direction, Direction] = {"c2a": "a2c", "a2c": "c2a", "stderr": "stderr"}
"""The direction of the responses to the requests of a direction. Nothing answers stderr."""

_DIRECTIONS: dict[str, Direction] = {"c2a": "c2a", "a2c": "a2c", "stderr": "stderr"}
# The end of the year 9999.
_MAX_TIME = 253_402_300_800
# What is read for what isn't JSON. Python's `json` writes it.
_CONSTANTS = {"NaN": None, "Infinity": inf, "-Infinity": -inf}
_STRING_OR_INFINITY = re.compile(rb'("(?:[^"\\]|\\.)*+")|Infinity')

# These methods show which side has written a log of one side.
_SENT_BY_CLIENTS = {"initialize", "authenticate", "session/new", "session/load", "session/prompt", "session/cancel"}
_SENT_BY_AGENTS = {"session/update", "session/request_permission", "fs/read_text_file", "fs/write_text_file"}


class NotARecordingError(ValueError):
    """A file is not a recording, or a line of it is malformed."""


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
    """Return the lines of a recording. `iterate_recording` says which, and what it raises."""
    return [*iterate_recording(path)]


def iterate_recording(path: str | Path) -> Iterator[Recorded]:
    """Yield the lines of a recording. Only one of them is in memory.

    Lines that were cut off, because the recording process was killed, are left out.

    Raises:
        OSError: if the file can't be read.
        NotARecordingError: if it isn't a recording. The message names the line.
    """
    with open(path, "rb") as file:
        directions = _DIRECTIONS | _find_directions(entry for _, entry in _read_entries(path, file))
        file.seek(0)
        for number, entry in _read_entries(path, file):
            direction = directions.get(str(entry.get("direction", entry.get("dir"))))
            if direction is None:
                raise NotARecordingError(f"{path}, line {number}: `direction` is not c2a, a2c or stderr")
            time = entry.get("time")
            message = entry.get("message", entry.get("msg"))
            line = entry.get("line")
            if time is not None and not _is_time(time):
                raise NotARecordingError(f"{path}, line {number}: `time` is not a number of seconds since 1970")
            if not isinstance(line, str | None):
                raise NotARecordingError(f"{path}, line {number}: `line` is not a text")
            if isinstance(message, str):  # the note of a frame log about a line that isn't JSON
                message, line = None, message
            yield Recorded(number, direction, time, message, line)


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
    return format_entry(recorded.time, recorded.direction, wire_line(recorded))


def wire_line(recorded: Recorded) -> bytes:
    """Return a recorded line as it was on the wire, except for white space in JSON."""
    if recorded.line is not None:
        return recorded.line.encode(errors="backslashreplace")
    return with_infinite_numbers(json.dumps(recorded.message).encode())


def with_infinite_numbers(line: bytes) -> bytes:
    """Write the infinite numbers in JSON as 1e999. Python reads such a number as infinite, and writes `Infinity`."""
    if b"Infinity" not in line:
        return line
    return _STRING_OR_INFINITY.sub(lambda match: match[1] or b"1e999", line)


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


def _read_entries(path: str | Path, file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects in a file, with the numbers of their lines."""
    has_text = has_entries = False
    for number, data in enumerate(file, 1):
        has_text = has_text or bool(data.strip())
        try:
            entry = json.loads(data, parse_constant=_CONSTANTS.get)
        except ValueError:
            continue
        except RecursionError:
            raise NotARecordingError(f"{path}, line {number}: nested too deeply") from None
        if not isinstance(entry, dict):
            raise NotARecordingError(f"{path}, line {number}: not an object with a direction and a message")
        has_entries = True
        yield number, cast("dict[str, Any]", entry)
    if has_text and not has_entries:
        raise NotARecordingError(f"{path} is not a recording: none of its lines is a JSON object")


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MAX_TIME


def _find_directions(entries: Iterable[dict[str, Any]]) -> dict[str, Direction]:
    """Return the directions of `in` and `out`, by the first message that only one side can have sent."""
    for entry in entries:
        if entry.get("direction", entry.get("dir")) in ("c2a", "a2c"):
            return {}
        method = str(member(entry, "message", "method"))
        if entry.get("direction") in ("in", "out") and method in _SENT_BY_CLIENTS | _SENT_BY_AGENTS:
            is_client = (method in _SENT_BY_CLIENTS) == (entry["direction"] == "out")
            return {"out": "c2a", "in": "a2c"} if is_client else {"out": "a2c", "in": "c2a"}
    return {}
