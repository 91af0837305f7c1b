"""Lets children that are forked from this process leave its connections and subprocesses alone.

A child has a copy of its parent's event loop, which runs there when an exception leaves a block. It shares the loop's
selector with the parent: it would read what is meant for the parent, and removing a file from the selector would remove
it for the parent, too. So the child closes its copies of the files first, which has no effect on the parent.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class _ClosedInChildren(Protocol):
    def close_in_child(self) -> None: ...


_open: WeakSet[_ClosedInChildren] = WeakSet()


def close_in_children(owner: _ClosedInChildren) -> None:
    """Call `owner.close_in_child` in each child that is forked from now on, while the owner exists."""
    _open.add(owner)


def _close_all() -> None:
    for owner in tuple(_open):
        owner.close_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_all)
