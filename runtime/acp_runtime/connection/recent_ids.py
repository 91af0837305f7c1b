"""The newest ids of sessions or terminals: what peers name must not fill the memory."""

from __future__ import annotations

_MAX_IDS = 4096
_MAX_LENGTH = 1024


class RecentIds(dict[str, None]):
    """A set of ids that forgets the oldest ones, and that doesn't remember very long ones."""

    def add(self, id: str) -> None:
        """Add an id as the newest."""
        if len(id) <= _MAX_LENGTH:
            self.pop(id, None)
            self[id] = None
        if len(self) > _MAX_IDS:
            del self[next(iter(self))]
