"""Refuses calls that would block an event loop."""

from __future__ import annotations

import asyncio
import sys


def refuse_event_loop(instead: str) -> None:
    """Raise RuntimeError if this thread runs an event loop, unless a user types the program.

    In a notebook a cell runs in the event loop of the notebook's kernel, and a cell that blocks is what the user waits
    for: the kernel itself is interrupted and restarted from another thread. Python says by `sys.ps1` that it is used
    interactively, and IPython sets it as well.

    Args:
        instead: what to write, for the message.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    if not hasattr(sys, "ps1"):
        raise RuntimeError(f"This thread runs an event loop, which would stop while this call waits. {instead}")
