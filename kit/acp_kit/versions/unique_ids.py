"""Ids that agents of version 1 use again, as ids that are used once."""

from __future__ import annotations

from collections import Counter


class UniqueIds:
    """Gives each message or tool call of a session an id of its own, which is the agent's unless that was used."""

    def __init__(self) -> None:
        self._uses: Counter[str] = Counter()

    def new(self, id: str) -> str:
        """Return the id of something new that the agent calls so."""
        self._uses[id] += 1
        return id if self._uses[id] == 1 else self.new(f"{id}-{self._uses[id]}")

    def clear(self) -> None:
        """Forget all ids."""
        self._uses.clear()
