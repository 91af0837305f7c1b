"""Collections by ids that peers choose: what is in flight under an id, and the newest ids of sessions and terminals."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")

# What peers name must not fill the memory.
_MAX_IDS = 4096


class Groups(dict[Any, dict[T, None]]):
    """Groups of things by a key. Each has an order, and is there only while something is in it."""

    def put(self, key: Any, item: T) -> None:
        """Put something into the group with a key."""
        self.setdefault(key, {})[item] = None

    def remove(self, key: Any, item: T) -> None:
        """Remove something from the group with a key, if it is there."""
        if group := self.get(key):
            group.pop(item, None)
            if not group:
                del self[key]

    def all(self) -> list[T]:
        """Return the things of all groups."""
        return [item for group in self.values() for item in group]


class RecentIds:
    """A set of ids that forgets the oldest ones. It keeps only their hashes, because an id may be very long."""

    def __init__(self) -> None:
        self._hashes: dict[int, None] = {}

    def __contains__(self, id: str) -> bool:
        return hash(id) in self._hashes

    def add(self, id: str) -> None:
        """Add an id, or make it the newest."""
        key = hash(id)
        self._hashes.pop(key, None)
        self._hashes[key] = None
        if len(self._hashes) > _MAX_IDS:
            del self._hashes[next(iter(self._hashes))]

    def discard(self, id: str) -> None:
        """Remove an id, if it is there."""
        self._hashes.pop(hash(id), None)
