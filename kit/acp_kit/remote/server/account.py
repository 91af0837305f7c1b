"""Counts the bytes that wait: of each connection, and of all connections of the process.

They wait when they are received and not handled to the end, or sent and not read, complete or not. A connection with
too many is aborted. If all together have too many, the one with the most is aborted. Connections that have not
initialized yet have a smaller limit together, so that they abort only each other.
"""

from __future__ import annotations

from collections.abc import Callable

from acp_kit.remote.server.bounds import Bounds
from acp_runtime.jsonrpc import memory_of

_STRANGERS = 16  # what connections that are not initialized may hold: this part of what all may hold


class _Pool:
    def __init__(self, most: int) -> None:
        self.most = most
        self.waiting = 0
        self.accounts: set[Account] = set()

    def enforce(self) -> None:
        if self.waiting > self.most:
            for account in self.accounts:
                account.recount()
        while self.waiting > self.most:
            max(self.accounts, key=lambda account: account.waiting).abort()


class Accounts:
    """All accounts of an application.

    Args:
        bounds: how many bytes may wait.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.most = bounds.connection_bytes
        self.strangers, self.clients = _Pool(bounds.process_bytes // _STRANGERS), _Pool(bounds.process_bytes)


class Account:
    """The bytes of one connection that wait.

    Args:
        accounts: all of them.
        abort: ends the connection at once and drops what it holds.

    Attributes:
        waiting: how many bytes wait.
    """

    __slots__ = ("_abort", "_accounts", "_held", "_pool", "_sizes", "waiting")

    def __init__(self, accounts: Accounts, abort: Callable[[], object]) -> None:
        self._accounts = accounts
        self._abort = abort
        self._sizes: dict[object, int] = {}
        self.waiting = 0
        self._held: Callable[[], int] = lambda: 0
        self._enter(accounts.strangers)

    @property
    def is_open(self) -> bool:
        """Whether the connection was neither aborted nor closed."""
        return self in self._pool.accounts

    @property
    def is_full(self) -> bool:
        """Whether the agent has to wait before it sends more."""
        return self.waiting > self._accounts.most // 2

    def set(self, source: object, size: int) -> None:
        """Set how many bytes of a source wait. Abort connections with too many."""
        before = self.waiting
        self._count(source, size)
        if self.waiting > before:
            if self.waiting > self._accounts.most:
                self.abort()
            self._pool.enforce()

    def watch(self, held: Callable[[], int]) -> Callable[[], None]:
        """Count what the agent holds. Return a function that updates the count and may abort connections."""
        self._held = held
        return lambda: self.set("held", held())

    def recount(self) -> None:
        """Update the count of what the agent holds."""
        self._count("held", self._held())

    def pass_on(self, message: bytes) -> bytes:
        """Count a message that the agent gets, until it wants the next one. Return it if the agent may have it."""
        self.set("passed", memory_of(message))
        return message if self.is_open else b""

    def passed(self) -> None:
        """Note that the agent wants the next message: it counts the last one itself, if it holds it."""
        self.recount()
        self._count("passed", 0)

    def initialized(self) -> None:
        """Count these bytes with those of other initialized connections."""
        if self.is_open:
            self._leave()
            self._enter(self._accounts.clients)
            self._pool.enforce()

    def abort(self) -> None:
        """End the connection at once, and stop counting."""
        if self.is_open:
            self.close()
            self._abort()

    def close(self) -> None:
        """Stop counting: the connection has ended."""
        if self.is_open:
            self._leave()

    def _count(self, source: object, size: int) -> None:
        change = size - self._sizes.get(source, 0)
        if change and self.is_open:
            self._sizes[source] = size
            self.waiting += change
            self._pool.waiting += change
            if not size:
                del self._sizes[source]

    def _enter(self, pool: _Pool) -> None:
        self._pool = pool
        pool.accounts.add(self)
        pool.waiting += self.waiting

    def _leave(self) -> None:
        self._pool.accounts.discard(self)
        self._pool.waiting -= self.waiting
