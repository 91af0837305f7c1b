"""An agent that plays a recording."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from acp_kit.recording.file_format import Recorded, read_recording
from acp_kit.testing.steps import Exit
from acp_runtime import Options
from acp_runtime.transports import Transport

# Members that may differ between clients.
_CLIENT_SPECIFIC = re.compile("_meta|additionalDirectories|client(Capabilities|Info)|cwd|mcpServers|messageId")
_MAX_DIFFERENCES = 3


class Replay:
    """An agent that plays a recording: it sends each message once the client has sent the messages before it.

    Each message of the client is matched by method and params with the first unmatched one of the recording.
    Differences between clients are ignored: names, capabilities, working directories, `_meta`, and null or an empty
    list instead of a missing member. A request that isn't in the recording is answered with an error that has the
    nearest request and the differences. If a permission is decided otherwise than in the recording, the replay ends.

    Requests to the client have new ids. In all texts, the working directory and the ids of terminals are replaced by
    those of the client.

    Attributes:
        problems: what didn't match.
    """

    def __init__(self, file: str | Path) -> None:
        """Read a recording.

        Raises:
            OSError: if the file can't be read.
            ValueError: if it isn't a recording.
        """
        self.problems: list[str] = []
        self._entries = _entries_to_play(read_recording(file))
        from_client = [entry for entry in self._entries if entry.direction == "c2a"]
        self._calls = [entry for entry in from_client if "method" in entry.message]
        self._responses = {_label(entry.message): [entry] for entry in from_client if "method" not in entry.message}
        self._next = 0
        self._matched: set[int] = set()  # the lines of the recording that the client has sent
        self._unanswered: dict[int, Any] = {}  # the client's ids of its requests without a response, by line
        self._names: dict[str, str] = {}  # the client's names, by the names in the recording

    async def serve(self, transport: Transport, options: Options, exit: Exit) -> None:
        """Play to a client over a transport, until the connection ends. The other arguments are ignored."""
        rest = b""
        try:
            await self._advance(transport)
            while data := await transport.receive():
                *lines, rest = (rest + data).split(b"\n")
                for line in filter(bytes.strip, lines):
                    await self._receive(json.loads(line), transport)
                    await self._advance(transport)
        finally:
            await transport.close()

    @property
    def where(self) -> str:
        """How far the replay got, in words."""
        if self._next < len(self._entries) and not self.problems:
            return f"the recording waits for {_title(self._entries[self._next])}"
        return "; ".join(self.problems) or "the recording was played to its end"

    def assert_done(self) -> None:
        """Check that the client has sent exactly the messages of the recording.

        Raises:
            AssertionError: if not. The message has the differences.
        """
        if self.problems or self._next < len(self._entries):
            raise AssertionError(f"The replay isn't done: {self.where}.")

    async def _advance(self, transport: Transport) -> None:
        """Send the next messages of the agent, up to the first unmatched message of the client."""
        for entry in self._entries[self._next :]:
            if entry.direction == "a2c":
                message = _rename(entry.message, self._names)
                if "method" not in message:
                    message["id"] = self._unanswered.pop(message["id"], None)
                await _send(transport, **message)
            elif entry.number not in self._matched:
                return
            self._next += 1
        problem = "; ".join(self.problems) or "The recording ends before the answer"
        for id in self._unanswered.values():
            await _send(transport, id=id, error={"code": -32603, "message": problem})
        self._unanswered.clear()

    async def _receive(self, message: dict[str, Any], transport: Transport) -> None:
        """Match a message of the client."""
        label = _label(message)
        values = _values_of(message)
        candidates = self._calls if "method" in message else self._responses.get(label)
        if label.startswith("$/") or not candidates:  # a cancellation, or a response after the end of the recording
            return

        def distance(entry: Recorded) -> tuple[bool, int, bool]:
            return _label(entry.message) != label, len(self._differences(entry, values)), entry.number in self._matched

        nearest = min(candidates, key=distance)
        differing = self._differences(nearest, values)[:_MAX_DIFFERENCES]
        if not differing and nearest.number not in self._matched:
            self._matched.add(nearest.number)
            if message.keys() >= {"id", "method"}:
                self._unanswered[nearest.number] = message["id"]
            if name := _name_in(nearest.message):
                self._names[name] = _name_in(message)
            return
        reasons = "; ".join(differing) or "it was played already"
        self.problems.append(f"The nearest in the recording is {_title(nearest)}: {reasons}")
        if "method" not in message:
            self._next = len(self._entries)
        elif "id" in message:
            await _send(transport, id=message["id"], error={"code": -32603, "message": self.problems[-1]})

    def _differences(self, entry: Recorded, values: dict[str, Any]) -> list[str]:
        """Return the differences between a message of the client and one of the recording, as sentences."""
        recorded = _values_of(_rename(entry.message, self._names))
        paths = [path for path in {**recorded, **values} if recorded.get(path) != values.get(path)]
        return [f"{path} is {values.get(path)!r:.60}, recorded is {recorded.get(path)!r:.60}" for path in paths]


def _entries_to_play(recording: list[Recorded]) -> list[Recorded]:
    """Return the entries to play. The id of a request and of its response becomes the line of the request."""
    entries: list[Recorded] = []
    pending: dict[tuple[str, str], int] = {}
    for entry in recording:
        caller = "c2a" if entry.direction == "a2c" else "a2c"
        match message := entry.message:
            case {"method": str(method)} if not method.startswith("$/"):  # these have the id of another request
                if "id" in message:
                    pending[entry.direction, repr(message["id"])] = entry.number
                    message["id"] = entry.number
            case {"id": id} if (caller, repr(id)) in pending:
                message["id"] = pending.pop((caller, repr(id)))
            case _:
                continue
        entries.append(entry)
    return entries


def _label(message: Mapping[str, Any]) -> str:
    return message.get("method") or f"the answer to line {message['id']}"


def _title(entry: Recorded) -> str:
    return f"{_label(entry.message)} (line {entry.number})"


def _values_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a message by their paths, without those that may differ between clients.

    For a response, these are whether it is an error, and the outcome of a permission request.
    """
    if "method" in message:
        return {"method": message["method"], **_flatten(message.get("params"), "")}
    outcome = {path: value for path, value in _flatten(message, "").items() if path.startswith("result.outcome.")}
    return {"is an error": "error" in message, **outcome}


def _flatten(value: object, path: str) -> dict[str, Any]:
    """Return the values in JSON by their paths, without null and without empty objects and lists."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        parts = [
            (f"{path}.{key}".lstrip("."), field) for key, field in fields.items() if not _CLIENT_SPECIFIC.fullmatch(key)
        ]
    elif isinstance(value, list):
        parts = [(f"{path}[{index}]", item) for index, item in enumerate(cast("list[object]", value))]
    else:
        return {} if value is None else {path: value}
    return {name: leaf for path, part in parts for name, leaf in _flatten(part, path).items()}


def _name_in(message: Mapping[str, Any]) -> str:
    """Return the name of a client in a message: a working directory or the id of a terminal, escaped as in JSON."""
    match message:
        case {"params": {"cwd": str(name)}} | {"result": {"terminalId": str(name)}}:
            return json.dumps(name.rstrip("/"), ensure_ascii=False)[1:-1]
        case _:
            return ""


def _rename(message: Any, names: Mapping[str, str]) -> Any:
    """Return a copy of a recorded message, with the client's names in its texts."""
    if not names:
        return {**message}
    # Replaces whole names (/work, but not in /workspace), also after an escape, and the longest name first.
    alternatives = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = rf"(?:(?<![\w.-])|(?<=[^\\]\\[nrt]))(?:{alternatives})(?![\w.-])"
    return json.loads(re.sub(pattern, lambda match: names[match[0]], json.dumps(message, ensure_ascii=False)))


async def _send(transport: Transport, **message: Any) -> None:
    await transport.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
