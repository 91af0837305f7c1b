"""An agent that plays a recording, and the base class of it and of the client that does."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from acp_kit.common.json_values import member, messages_in
from acp_kit.recording.file_format import Direction, NotARecordingError, read_recording
from acp_kit.testing.recorded_messages import Entry, entries_to_play, name_of_client, rename, values_of
from acp_kit.testing.steps import Exit
from acp_runtime import Options
from acp_runtime.escaping import printable
from acp_runtime.transports import Transport

_MAX_PROBLEM = 1000
_MAX_DIFFERENCES = 3
_MAX_MISSING = 5


class RecordedSide:
    """One side of a recording: it sends each message once the peer has sent the messages before it.

    Attributes:
        problems: what didn't match.
    """

    _side: ClassVar[Direction]
    _peer: ClassVar[str]

    def __init__(self, file: str | Path) -> None:
        """Read a recording.

        Raises:
            OSError: if the file can't be read.
            ValueError: if it isn't a recording.
        """
        self.problems: list[str] = []
        self._entries = entries_to_play(read_recording(file))
        if not any(entry.direction == "c2a" for entry in self._entries):
            raise NotARecordingError(f"{file} has no message of a client, so there is nothing to play.")
        self._peer_entries = [entry for entry in self._entries if entry.direction != self._side]
        self._next = 0
        self._matched: set[int] = set()  # the messages that the peer has sent, or need not send
        self._unanswered: dict[int, Any] = {}  # the peer's ids of its requests without a response, by index
        self._names: dict[str, str] = {}  # the client's names, by the recorded names
        self._sessions: dict[str, Any] = {}  # the agent's ids of sessions, by the recorded ids
        self._peer_has_left = False
        self._on_frame = Options().on_frame

    async def serve(self, transport: Transport, options: Options, exit: Exit) -> None:
        """Play over a transport, until the connection ends. `exit` is ignored."""
        self._on_frame = options.on_frame
        pieces: list[bytes] = []  # of an incomplete line
        try:
            with suppress(OSError):  # the peer has left
                await self._advance(transport)
                while data := await transport.receive():
                    pieces.append(data)
                    if b"\n" in data:
                        *lines, rest = b"".join(pieces).split(b"\n")
                        pieces = [rest]
                        for line in filter(bytes.strip, lines):
                            await self._receive_line(line, transport)
            self._peer_has_left = True
        finally:
            with suppress(OSError):
                await transport.close()

    @property
    def where(self) -> str:
        """How far the replay got, in words."""
        if self._next < len(self._entries) and not self.problems:
            entry = self._entries[self._next]
            left = f"the {self._peer} has left, and " if self._peer_has_left else ""
            is_ours = entry.direction == self._side
            return f"{left}the recording {'got to' if is_ours else 'waits for'} {entry.title}"
        return "; ".join(self.problems) or "the recording was played to its end"

    def assert_done(self) -> None:
        """Check that the peer has sent exactly the messages of the recording.

        Raises:
            AssertionError: if not. The message has the differences, and what the peer has not sent.
        """
        if self.problems or self._next < len(self._entries):
            missing = [entry.title for entry in self._peer_entries if entry.index not in self._matched]
            listed = ", ".join(missing[:_MAX_MISSING] + (["..."] if missing[_MAX_MISSING:] else []))
            sentence = f" The {self._peer} has not sent: {listed}." if missing else ""
            raise AssertionError(f"The replay isn't done: {self.where}.{sentence}")

    async def _advance(self, transport: Transport) -> None:
        """Send the next messages, up to the first one that the peer has to send before."""
        while self._next < len(self._entries):
            entry = self._entries[self._next]
            if entry.direction == self._side:
                if self._begins_connection(entry):
                    await transport.close()
                    return
                await self._play(entry, transport)
            elif entry.index not in self._matched:
                return
            self._next += 1
        problem = "; ".join(self.problems) or "The recording ends before the answer"
        for id in self._unanswered.values():
            await self._send(transport, id=id, error={"code": -32603, "message": problem})
        self._unanswered.clear()

    def _begins_connection(self, entry: Entry) -> bool:
        """Return whether an entry is for another connection."""
        return False

    async def _play(self, entry: Entry, transport: Transport) -> None:
        message = self._convert(entry)
        if entry.request is not None:
            if entry.request.index not in self._unanswered:
                return  # the peer has not sent the request
            message["id"] = self._unanswered.pop(entry.request.index)
        await self._send(transport, **message)

    async def _receive_line(self, line: bytes, transport: Transport) -> None:
        if self._on_frame is not None:
            self._on_frame("in", line, 0.0)
        try:
            messages = messages_in(json.loads(line))
        except (ValueError, RecursionError):
            messages = []
            self._add_problem(f"The {self._peer} has sent a line that isn't JSON: {line[:60]!r}")
        try:
            for message in messages:
                await self._receive(message, transport)
                await self._advance(transport)
        except RecursionError:  # an id that could just be parsed
            self._add_problem(f"The {self._peer} has sent a line that is nested too deeply: {line[:60]!r}")

    async def _receive(self, message: dict[str, Any], transport: Transport) -> None:
        """Match a message of the peer."""
        method = message.get("method")
        candidates = self._find_candidates(message)
        if str(method).startswith("$/"):  # a cancellation
            return
        if not candidates:  # a response after the end, a notification to ignore, or a request
            if method is not None and "id" in message:
                sent = f"The {self._peer} has sent {method}"
                self._add_problem(f"{sent}, but the recording has no request of the {self._peer}")
                await self._refuse(message, transport)
            return
        values = values_of(message)

        for entry in candidates:
            is_same = entry.index not in self._matched and entry.message.get("method") == method
            if is_same and not self._find_differences(entry, values):
                self._match(entry, message)
                return

        def distance(entry: Entry) -> tuple[bool, int, bool]:
            is_other = entry.message.get("method") != method
            return is_other, len(self._find_differences(entry, values)), entry.index in self._matched

        nearest = min(candidates, key=distance)
        differing = self._find_differences(nearest, values)[:_MAX_DIFFERENCES]
        reasons = "; ".join(differing) or "it was played already"
        error = member(message, "error", "message")
        explanation = "" if error is None else f" ({error!r:.80})"
        self._add_problem(f"The nearest in the recording is {nearest.title}: {reasons}{explanation}")
        if method is None:
            self._handle_difference(nearest, message)
        elif "id" in message:
            await self._refuse(message, transport)

    def _add_problem(self, problem: str) -> None:
        """Add a problem, with control characters escaped."""
        self.problems.append(printable(problem, _MAX_PROBLEM))

    async def _refuse(self, request: dict[str, Any], transport: Transport) -> None:
        await self._send(transport, id=request["id"], error={"code": -32603, "message": self.problems[-1]})

    def _find_candidates(self, message: dict[str, Any]) -> list[Entry]:
        """Return the entries that a message of the peer may be."""
        if "method" in message:
            return [entry for entry in self._peer_entries if entry.request is None]
        return [entry for entry in self._peer_entries if entry.request and entry.request.index == message.get("id")]

    def _match(self, entry: Entry, message: dict[str, Any]) -> None:
        """Note that the peer has sent an entry, as this message."""
        self._matched.add(entry.index)
        if message.keys() >= {"id", "method"}:
            self._unanswered[entry.index] = message["id"]

    def _handle_difference(self, entry: Entry, message: dict[str, Any]) -> None:
        """End the replay, because a response of the peer differs from the recorded one."""
        self._next = len(self._entries)

    def _find_differences(self, entry: Entry, values: dict[str, Any]) -> list[str]:
        """Return the differences between a message of the peer and one of the recording, as sentences."""
        recorded = values_of(self._convert(entry))
        paths = [path for path in {**recorded, **values} if recorded.get(path) != values.get(path)]
        if "is an error" in paths:
            paths = ["is an error"]
        return [f"{path} is {values.get(path)!r:.60}, recorded is {recorded.get(path)!r:.60}" for path in paths]

    def _convert(self, entry: Entry) -> dict[str, Any]:
        """Return a copy of a recorded message, with the names and ids of this connection."""
        message: dict[str, Any] = rename(entry.message, self._names)
        session = member(message, "params", "sessionId")
        if isinstance(session, str) and session in self._sessions:
            message["params"] = {**message["params"], "sessionId": self._sessions[session]}
        return message

    async def _send(self, transport: Transport, **message: Any) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        if self._on_frame is not None:
            self._on_frame("out", line[:-1], 0.0)
        await transport.send(line)


class Replay(RecordedSide):
    """An agent that plays a recording: it sends each message once the client has sent the messages before it.

    Each message of the client is matched by method and params with the first unmatched one of the recording.
    Differences between clients are ignored: names, capabilities, working directories, `_meta`, and null or an empty
    list instead of a missing member. A request that isn't in the recording is answered with an error that has the most
    similar request and the differences. If a permission request is decided differently than in the recording, the
    replay ends.

    Requests to the client have new ids. In all texts, the working directory and the ids of terminals are replaced by
    those of the client.

    Attributes:
        problems: what didn't match.
    """

    _side = "a2c"
    _peer = "client"

    def _match(self, entry: Entry, message: dict[str, Any]) -> None:
        super()._match(entry, message)
        if name := name_of_client(entry.message):
            self._names[name] = name_of_client(message)
