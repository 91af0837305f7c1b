"""Collections by ids that peers choose: what is in flight under an id, and the newest ids of sessions and terminals."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")

# What peers name must not fill the memory.
_MAX_IDS = 4096
_MAX_LENGTH = 1024


class Groups(dict[Any, dict[T, None]]):
    """Groups of things by a key. Each has an order, and is there only while something is in it."""

    def put(self, key: Any, item: T) -> None:
        """Put something into the group with a key."""
        self.setdefault(key, {})[item] = None

    def remove(self, key: Any, item: T) -> None:
        """Remove something from the group with a key, if it is there."""
        group = self.get(key)
        if group is not None:
            group.pop(item, None)
            if not group:
                del self[key]

    def all(self) -> list[T]:
        """Return the things of all groups."""
        return [item for group in self.values() for item in group]


class RecentIds(dict[str, None]):
    """A set of ids that forgets the oldest ones, and that doesn't remember very long ones."""

    def add(self, id: str) -> None:
        """Add an id as the newest."""
        if len(id) <= _MAX_LENGTH:
            self.pop(id, None)
            self[id] = None
        if len(self) > _MAX_IDS:
            del self[next(iter(self))]
