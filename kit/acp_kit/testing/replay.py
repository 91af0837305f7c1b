"""An agent that plays a recording to a client."""

from __future__ import annotations

import json
from logging import getLogger
from pathlib import Path
from typing import Any

from acp_kit.recording import Recorded, read_recording
from acp_kit.testing.matching import Renames, described, differing, outcome_of, values_of
from acp_kit.testing.wire import Exit
from acp_runtime import Options
from acp_runtime.transports import Transport

_logger = getLogger(__name__)


class Replay:
    """An agent that plays what the agent of a recording has sent, as soon as the client has sent what came before.

    A message of the client is matched by method and params with the first one of the recording that is left. What
    differs between clients doesn't matter: names, capabilities and working directories, `_meta`, and null or an empty
    list in place of nothing. A request that isn't in the recording is answered with an error, which has the nearest one
    and what differs. If a permission is decided otherwise than in the recording, the replay ends.

    Requests to the client have ids of their own. In all texts, the working directory and the ids of terminals are those
    of the client.

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
        self._entries, self._requests = _played(read_recording(file))
        # By their places in the recording: the values of the client's requests and notifications, the ids of those that
        # have come, and of those that have no answer yet.
        self._asked = {
            place: values_of(entry.message)
            for place, entry in enumerate(self._entries)
            if entry.direction == "c2a" and "method" in entry.message
        }
        self._matched: dict[int, Any] = {}
        self._unanswered: dict[int, Any] = {}
        self._renames = Renames()
        self._next = 0
        self._has_failed = False

    async def serve(self, transport: Transport, options: Options, exit: Exit) -> None:
        """Play to a client over a transport, until the connection ends. The other arguments change nothing."""
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
        """Where the replay is, in words."""
        if self.problems:
            return "; ".join(self.problems)
        if self._next == len(self._entries):
            return "the recording was played to its end"
        return f"the recording waits for {self._title(self._next)}"

    def assert_done(self) -> None:
        """Check that the client has sent what the recording has, and nothing else.

        Raises:
            AssertionError: with what differs.
        """
        if self.problems or self._next < len(self._entries):
            raise AssertionError(f"The replay isn't done: {self.where}.")

    async def _advance(self, transport: Transport) -> None:
        """Send what the agent has sent until it waited for the client."""
        while self._next < len(self._entries) and not self._has_failed:
            if self._entries[self._next].direction == "a2c":
                await _send(transport, self._message(self._next))
            elif self._next not in self._matched:
                return
            self._next += 1
        for id in self._unanswered.values():
            problem = self.problems[-1] if self._has_failed else "The recording ends before the answer to this request"
            await _refuse(transport, id, problem)
        self._unanswered.clear()

    def _message(self, place: int) -> dict[str, Any]:
        """Return a message of the agent, as this client has to get it."""
        message: dict[str, Any] = self._renames.for_client(self._entries[place].message)
        if place in self._requests:
            self._unanswered.pop(self._requests[place], None)
            message["id"] = self._matched[self._requests[place]]
        elif "id" in message:
            message["id"] = self._entries[place].number
        return message

    async def _receive(self, message: dict[str, Any], transport: Transport) -> None:
        """Match a message of the client."""
        sent = self._renames.as_recorded(message)
        if "method" not in message:
            self._match_answer(message, sent)
        elif message["method"].startswith("$/"):
            return  # the replay answers at once, or never
        elif self._has_failed or (place := self._find(values_of(sent))) is None:
            self._note(self.problems[-1] if self._has_failed else self._explain(values_of(sent)))
            if "id" in message:
                await _refuse(transport, message["id"], self.problems[-1])
        else:
            self._matched[place] = message.get("id")
            if "id" in message:
                self._unanswered[place] = message["id"]
            self._renames.learn(self._entries[place].message, message)

    def _find(self, values: dict[str, Any]) -> int | None:
        """Return the place of the first message that has these values and has not come."""
        places = self._asked.keys() - self._matched.keys()
        return min((place for place in places if self._asked[place] == values), default=None)

    def _match_answer(self, message: dict[str, Any], sent: dict[str, Any]) -> None:
        for place, request in self._requests.items():
            if self._entries[place].direction == "c2a" and self._entries[request].number == message["id"]:
                recorded = self._entries[place].message
                if outcome_of(recorded) != outcome_of(sent):
                    self._has_failed = True
                    self._note(f"In {self._title(place)}, {described(outcome_of(recorded), outcome_of(sent))}")
                self._matched[place] = message["id"]
                self._renames.learn(recorded, message)

    def _explain(self, values: dict[str, Any]) -> str:
        """Return why no message has these values."""
        same = [place for place, asked in self._asked.items() if asked["method"] == values["method"]]
        if not same:
            methods = ", ".join(dict.fromkeys(asked["method"] for asked in self._asked.values()))
            return f"The recording has no {values['method']}, only {methods}"
        nearest = min(same, key=lambda place: (len(differing(self._asked[place], values)), place in self._matched))
        played = ", which was played already" if nearest in self._matched else ""
        details = described(self._asked[nearest], values)
        return f"The nearest in the recording is {self._title(nearest)}{played}" + (details and f": {details}")

    def _title(self, place: int) -> str:
        entry = self._entries[place]
        request = self._requests.get(place)
        if request is None:
            return f"{entry.message['method']} (line {entry.number})"
        return f"the answer to {self._entries[request].message['method']} (line {entry.number})"

    def _note(self, problem: str) -> None:
        self.problems.append(problem)
        _logger.warning("%s", problem)


def _played(recording: list[Recorded]) -> tuple[list[Recorded], dict[int, int]]:
    """Return what is played, and the places of the requests by those of their answers."""
    entries: list[Recorded] = []
    requests: dict[int, int] = {}
    asked: dict[tuple[str, str], int] = {}
    for entry in recording:
        message, other = entry.message, "c2a" if entry.direction == "a2c" else "a2c"
        match message:
            case {"method": str(method)}:
                if method.startswith("$/"):  # it names a request by its id
                    continue
                if "id" in message:
                    asked[entry.direction, json.dumps(message["id"])] = len(entries)
            case {"id": id} if (other, json.dumps(id)) in asked:
                requests[len(entries)] = asked.pop((other, json.dumps(id)))
            case _:
                continue
        entries.append(entry)
    return entries, requests


async def _refuse(transport: Transport, id: Any, problem: str) -> None:
    await _send(transport, {"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": problem}})


async def _send(transport: Transport, message: dict[str, Any]) -> None:
    await transport.send(json.dumps(message).encode() + b"\n")
