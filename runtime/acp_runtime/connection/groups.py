"""Things that stand under a key, several under one."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


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
