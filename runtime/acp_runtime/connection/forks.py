"""Keeps forked children away from the descriptors, signal handlers and processes of their parent.

A child that is forked while an event loop runs (by `os.fork` or multiprocessing) has copies of everything, and shares
its parent's epoll set. Objects registered here abandon their resources in the child before any other code runs. A child
that returns into the parent's code is ended there.
"""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from typing import Protocol
from weakref import WeakSet


class Owner(Protocol):
    """Holds resources of this process alone."""

    def abandon(self) -> None:
        """Drop the resources in a forked child without affecting the parent, and do nothing from then on."""
        ...


_owners: WeakSet[Owner] = WeakSet()


def abandoned_in_children(owner: Owner) -> None:
    """Call `owner.abandon` in every child that is forked while the owner exists."""
    _owners.add(owner)


def leave_if_forked(process_id: int, error: BaseException | None = None) -> None:
    """End this process at once if it is a forked child that runs the parent's code.

    Args:
        process_id: the id of the parent.
        error: raised in the child, if anything was; decides its exit code.
    """
    if os.getpid() == process_id:
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
