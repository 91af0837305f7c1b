"""Notifications of this side to sessions that the peer doesn't know yet.

They are *held* until the response that names the session has left (rule 17).
"""

from __future__ import annotations

from collections.abc import Callable
from logging import WARNING, getLogger
from typing import NamedTuple

from acp_runtime.connection.ids import RecentIds
from acp_runtime.connection.in_flight import InFlight, current
from acp_runtime.errors import GuardError
from acp_runtime.logs import ThrottledLogger

_logger = getLogger(__name__)


class _Held(NamedTuple):
    """A line for a session, and the creating request whose handler sent it, if one did."""

    session: str
    sender: InFlight | None
    line: bytes


class HeldLines:
    """The held notifications of one connection.

    Args:
        send: sends a line.
        max_bytes: how much is held at most.

    Attributes:
        known: the sessions that the peer has used or received.
        creating_requests: the peer's requests in flight whose results name new sessions.
    """

    def __init__(self, send: Callable[[bytes], object], max_bytes: int) -> None:
        self._send = send
        self._max_bytes = max_bytes
        self.known: RecentIds = RecentIds()
        self.creating_requests: set[InFlight] = set()
        self._held: list[_Held] = []
        self._held_bytes = 0
        self._log = ThrottledLogger(_logger)

    def known_by_peer(self, id: str) -> None:
        """Note that the peer knows the id of a session, and send what was held for it."""
        self.known.add(id)
        if self._held:
            self._send_held(lambda held: held.session == id)

    def send(self, id: str | None, line: bytes) -> bool:
        """Send the line of a notification to a session, or hold it. Return whether it was sent.

        Raises:
            GuardError: if more than the limit would be held.
        """
        if id is None or id in self.known or not self.creating_requests:
            self._send(line)
            return True
        if self._held_bytes + len(line) > self._max_bytes:
            raise GuardError(
                f"Notifications to session {id!r} are held until the response that creates it is sent, and they "
                f"exceed {self._max_bytes} bytes (Options.max_held_bytes). Return from the handler, then send them."
            )
        sender = current.get()
        self._held.append(_Held(id, sender if sender in self.creating_requests else None, line))
        self._held_bytes += len(line)
        return False

    def end_creation(self, creation: InFlight, id: str | None) -> None:
        """Note that a request that creates a session was answered, with its id or without one.

        What its handler has sent leaves now, or is dropped if there is no session. So is what came from elsewhere when
        no other creation is in flight.
        """
        self.creating_requests.discard(creation)
        if id is not None:
            self.known.add(id)
            self._send_held(lambda held: held.session == id or held.sender is creation or not self.creating_requests)
        elif dropped := self._take_held(lambda held: held.sender is creation or not self.creating_requests):
            message = "Dropped %s notifications to a session that was not created"
            self._log.log(WARNING, "dropped", message, len(dropped))

    def _send_held(self, may_leave: Callable[[_Held], bool]) -> None:
        for held in self._take_held(may_leave):
            self._send(held.line)

    def _take_held(self, may_leave: Callable[[_Held], bool]) -> list[_Held]:
        """Remove the lines that may leave, and return them in order."""
        taken = [held for held in self._held if may_leave(held)]
        if taken:
            self._held = [held for held in self._held if not may_leave(held)]
            self._held_bytes -= sum(len(held.line) for held in taken)
        return taken
