"""A client that plays a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acp_kit.common.json_values import member
from acp_kit.testing.recorded_messages import Entry, escape, name_of_client
from acp_kit.testing.replay import RecordedSide
from acp_kit.testing.steps import Exit
from acp_runtime import Options
from acp_runtime.transports import Transport


class ReplayedClient(RecordedSide):
    """A client that plays a recording: it sends each message once the agent has answered the requests before it.

    Requests of the agent are matched as `Replay` matches those of the client, and responses by whether they are errors
    and by their stop reasons. Other updates than the recorded ones may come. What the agent has not requested when it
    answers is a problem.

    Attributes:
        problems: what didn't match.
    """

    _side = "c2a"
    _peer = "agent"

    def __init__(self, file: str | Path, *, cwd: str | Path | None = None) -> None:
        """Read a recording.

        Args:
            file: the recording.
            cwd: the working directory to use instead of the recorded one.

        Raises:
            OSError: if the file can't be read.
            ValueError: if it isn't a recording.
        """
        super().__init__(file)
        self._opened_at = 0
        self._awaited = self._find_awaited()
        ignored = {
            entry.index for entry in self._peer_entries if _is_notification(entry) and entry not in self._awaited
        }
        self._matched |= ignored
        self._peer_entries = [entry for entry in self._peer_entries if entry.index not in ignored]
        recorded = [name_of_client(entry.message) for entry in self._entries if entry.direction == "c2a"]
        if cwd is not None and any(recorded):
            self._names[next(filter(None, recorded))] = escape(str(cwd))

    @property
    def continues(self) -> bool:
        """Whether the recording continues with another connection."""
        return self._next < len(self._entries) and self._begins_connection(self._entries[self._next])

    async def serve(self, transport: Transport, options: Options, exit: Exit) -> None:
        """Play one connection. `exit` is ignored."""
        self._opened_at = self._next
        await super().serve(transport, options, exit)

    async def _advance(self, transport: Transport) -> None:
        await super()._advance(transport)
        if self._next == len(self._entries):
            await transport.close()

    def _begins_connection(self, entry: Entry) -> bool:
        is_opening = entry.direction == "c2a" and entry.message.get("method") == "initialize"
        return is_opening and entry.index > self._opened_at

    def _find_candidates(self, message: dict[str, Any]) -> list[Entry]:
        if "id" in message:
            return [entry for entry in super()._find_candidates(message) if not _is_notification(entry)]
        unsent = (entry.index for entry in self._entries[self._next :] if entry.direction == "c2a")
        end = next(unsent, len(self._entries))
        session = member(message, "params", "sessionId")
        state = _state(message)
        return [
            entry
            for entry in self._awaited
            if entry.index < end
            and entry.index not in self._matched
            and self._sessions.get(entry.session or "") in (None, session)
            and _state(entry.message) in (None, state)
        ][:1]

    def _match(self, entry: Entry, message: dict[str, Any]) -> None:
        super()._match(entry, message)
        session = member(entry.message, "result", "sessionId")
        if isinstance(session, str):
            self._sessions[session] = member(message, "result", "sessionId")
        if entry.request is not None or _is_notification(entry):
            self._skip_before(entry)

    def _handle_difference(self, entry: Entry, message: dict[str, Any]) -> None:
        """Continue, unless the connection was not opened."""
        if entry.request is not None and entry.request.label == "initialize":
            super()._handle_difference(entry, message)
            return
        self._match(entry, message)
        if "error" in message:  # the turn has no end that could be awaited
            self._matched |= {awaited.index for awaited in self._awaited if awaited.session == entry.session}

    def _find_differences(self, entry: Entry, values: dict[str, Any]) -> list[str]:
        return [] if _is_notification(entry) else super()._find_differences(entry, values)

    def _skip_before(self, entry: Entry) -> None:
        """Don't wait for what the agent should have sent before an answer or the end of a turn."""
        for earlier in self._peer_entries:
            is_missing = earlier.index < entry.index and earlier.index not in self._matched and earlier.request is None
            if is_missing and earlier.session == entry.session:
                self._matched.add(earlier.index)
                if not _is_notification(earlier):
                    self._add_problem(f"The agent has not sent {earlier.title}")

    def _find_awaited(self) -> list[Entry]:
        """Return the notifications of the agent to wait for.

        A cancellation waits for the last one before it, so that the turn is under way. In version 2, the next message
        waits for the end of the turn, which is an update with a state.
        """
        awaited: list[Entry] = []
        last: Entry | None = None
        last_state: Entry | None = None
        for entry in [*self._entries, None]:
            if entry is None or (entry.direction == "c2a" and entry.request is None):
                awaited_entry = last if entry is not None and _is_notification(entry) else last_state
                if awaited_entry is not None:
                    awaited.append(awaited_entry)
                last = last_state = None
            elif entry.direction == "a2c" and _is_notification(entry):
                last = entry
                last_state = entry if _state(entry.message) else last_state
        return awaited


def _is_notification(entry: Entry) -> bool:
    return entry.request is None and "id" not in entry.message


def _state(message: dict[str, Any]) -> Any:
    return member(message, "params", "update", "state")
