"""Starts processes for tests, and ends them."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import Process, create_subprocess_exec
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

GRACE = 2.0
"""How long a process may take to end, in seconds."""


@asynccontextmanager
async def start_process(words: Sequence[str], **options: Any) -> AsyncGenerator[Process]:
    """Start a process, in a process group of its own. At the end of the block, it is ended.

    Raises:
        OSError: if it can't be started.
    """
    options.setdefault("start_new_session", True)
    process = await create_subprocess_exec(*words, **options)
    try:
        yield process
    finally:
        for name in ("SIGTERM", "SIGKILL"):
            signal_group(process, name)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE)
        with suppress(TimeoutError):  # another process may have its pipes
            await asyncio.wait_for(process.communicate(), GRACE)


def signal_group(process: Process, name: str) -> None:
    """Send a signal to a process, and to its descendants if the system has process groups."""
    try:
        os.killpg(process.pid, getattr(signal, name))
    except (AttributeError, OSError):  # on Windows, or if it has no group of its own or has ended
        with suppress(ProcessLookupError):
            process.send_signal(getattr(signal, name, signal.SIGTERM))
