"""Refuses calls that would block an event loop."""

from __future__ import annotations

import asyncio
import sys


def refuse_event_loop(instead: str) -> None:
    """Raise RuntimeError if this thread runs an event loop, unless a user types the program.

    In a notebook, cells run in the event loop of the kernel. A cell that blocks is what the user waits for, and the
    kernel is interrupted and restarted from another thread. Python sets `sys.ps1` if it is used interactively; so does
    IPython.

    Args:
        instead: the last sentence of the message, which says what to call instead.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    if not hasattr(sys, "ps1"):
        raise RuntimeError(f"This thread runs an event loop, which would stop while this call waits. {instead}")
