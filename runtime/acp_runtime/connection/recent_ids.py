"""The newest ids of sessions or terminals: what peers name must not fill the memory."""

from __future__ import annotations

_MAX_IDS = 4096


class RecentIds:
    """A set of ids that forgets the oldest ones. It keeps only their hashes, because an id may be very long."""

    def __init__(self) -> None:
        self._hashes: dict[int, None] = {}

    def __contains__(self, id: str) -> bool:
        return hash(id) in self._hashes

    def add(self, id: str) -> None:
        """Add an id, or make it the newest."""
        self.discard(id)
        self._hashes[hash(id)] = None
        if len(self._hashes) > _MAX_IDS:
            del self._hashes[next(iter(self._hashes))]

    def discard(self, id: str) -> None:
        """Remove an id, if it is there."""
        self._hashes.pop(hash(id), None)
