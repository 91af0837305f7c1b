"""What a forked child must leave alone: descriptors, signal handlers and processes that its parent uses.

A child that is forked while an event loop runs (by `os.fork` or by multiprocessing) has copies of everything. Its epoll
set even *is* the parent's. Whatever is registered here abandons in the child what it holds, before anything else runs.
A child that doesn't end by itself ends where it would go on with the parent's work.
"""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from typing import Protocol
from weakref import WeakSet


class Owner(Protocol):
    """Something that holds what belongs to this process alone."""

    def abandon(self) -> None:
        """Give up what it holds in a forked child, without touching the parent's. Does nothing from now on."""
        ...


_owners: WeakSet[Owner] = WeakSet()


def abandoned_in_children(owner: Owner) -> None:
    """Call `owner.abandon` in every child that is forked while it exists."""
    _owners.add(owner)


def leave_if_forked(made_in: int, error: BaseException | None = None) -> None:
    """End this process at once if it was forked after something was made that only the parent may go on with.

    Args:
        made_in: the id of the process that made it.
        error: what the child raised, which decides its exit code.
    """
    if os.getpid() == made_in:
        return
    code = 1
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    elif error is not None:
        traceback.print_exception(error)
    for stream in (sys.stdout, sys.stderr):
        # None if it was closed when the process started.
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os._exit(code)


def _forked() -> None:
    for owner in list(_owners):
        owner.abandon()
    _owners.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
