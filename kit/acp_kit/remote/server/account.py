"""Counts buffered bytes per connection, and in total over all applications of the process.

These are received messages that are not yet handled, and sent messages that the client has not read, complete or not. A
connection with too many bytes is aborted. If the total is too large, the connection with the most bytes is aborted.
Connections that have not initialized share a smaller limit, so that they abort only each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

from acp_kit.remote.server.bounds import Bounds
from acp_runtime.jsonrpc import memory_of

_UNINITIALIZED_SHARE = 16  # connections that have not initialized may have this fraction of the bytes of all


class _Pool:
    """The accounts with a common limit."""

    def __init__(self) -> None:
        self.buffered = 0
        self.accounts: set[Account] = set()

    def enforce(self, max_bytes: int) -> None:
        if self.buffered > max_bytes:
            for account in self.accounts:
                account.recount()
        while self.buffered > max_bytes:
            max(self.accounts, key=lambda account: account.buffered).abort()


class _Pools:
    """The accounts of all applications in an event loop."""

    def __init__(self) -> None:
        self.uninitialized = _Pool()
        self.initialized = _Pool()


_pools = WeakKeyDictionary[asyncio.AbstractEventLoop, _Pools]()


class Accounts:
    """The limits of an application on its accounts. Those on all of the process count the other applications, too.

    Args:
        bounds: how many bytes may be buffered.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.max_connection_bytes = bounds.connection_bytes
        self._max_process_bytes = bounds.process_bytes

    @property
    def pools(self) -> _Pools:
        """The accounts in the running event loop."""
        return _pools.setdefault(asyncio.get_running_loop(), _Pools())

    def enforce(self, pool: _Pool) -> None:
        """Abort connections while a pool has too many bytes."""
        is_initialized = pool is self.pools.initialized
        pool.enforce(self._max_process_bytes if is_initialized else self._max_process_bytes // _UNINITIALIZED_SHARE)


class Account:
    """The buffered bytes of one connection.

    Args:
        accounts: all accounts of the application.
        abort: aborts the connection and drops its messages.

    Attributes:
        buffered: how many bytes are buffered.
    """

    __slots__ = ("_abort", "_accounts", "_buffered_by_agent", "_pool", "_sizes", "buffered")

    def __init__(self, accounts: Accounts, abort: Callable[[], object]) -> None:
        self._accounts = accounts
        self._abort = abort
        self._sizes: dict[object, int] = {}
        self.buffered = 0
        self._buffered_by_agent: Callable[[], int] = lambda: 0
        self._enter(accounts.pools.uninitialized)

    @property
    def is_open(self) -> bool:
        """Whether the connection was neither aborted nor closed."""
        return self in self._pool.accounts

    @property
    def is_full(self) -> bool:
        """Whether the agent must wait before it sends more."""
        return self.buffered > self._accounts.max_connection_bytes // 2

    def set(self, source: object, size: int) -> None:
        """Set how many bytes of a source are buffered. Abort connections with too many."""
        before = self.buffered
        self._count(source, size)
        if self.buffered > before:
            if self.buffered > self._accounts.max_connection_bytes:
                self.abort()
            self._accounts.enforce(self._pool)

    def watch(self, buffered: Callable[[], int]) -> Callable[[], None]:
        """Count the bytes that the agent's connection buffers.

        Args:
            buffered: returns how many there are.

        Returns:
            A function that updates the count and may abort connections.
        """
        self._buffered_by_agent = buffered
        return lambda: self.set("agent", buffered())

    def recount(self) -> None:
        """Update the count of the bytes that the agent's connection buffers."""
        self._count("agent", self._buffered_by_agent())

    def hand_over(self, message: bytes) -> bytes:
        """Count a message until the agent receives again. Return it, or nothing if this aborts the connection."""
        self.set("handed over", memory_of(message))
        return message if self.is_open else b""

    def end_hand_over(self) -> None:
        """Note that the agent receives again. Its connection counts the last message now, if it buffers it."""
        self.recount()
        self._count("handed over", 0)

    def initialize(self) -> None:
        """Note that the connection has initialized, so that the limit for initialized ones applies."""
        if self.is_open:
            self._leave()
            self._enter(self._accounts.pools.initialized)
            self._accounts.enforce(self._pool)

    def abort(self) -> None:
        """Abort the connection, and stop counting."""
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
            self.buffered += change
            self._pool.buffered += change
            if not size:
                del self._sizes[source]

    def _enter(self, pool: _Pool) -> None:
        self._pool = pool
        pool.accounts.add(self)
        pool.buffered += self.buffered

    def _leave(self) -> None:
        self._pool.accounts.discard(self)
        self._pool.buffered -= self.buffered
