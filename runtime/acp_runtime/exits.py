"""Noticing that a subprocess has exited, without waiting for its pipes, which a grandchild may hold."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

_POLL = 0.25


async def exited(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has exited: told by the system on Linux, by looking now and then elsewhere."""
    descriptor = _descriptor_of(process.pid)
    if descriptor is not None:
        await _readable(descriptor)
    while process.poll() is None:
        await asyncio.sleep(_POLL)


def _descriptor_of(pid: int) -> int | None:
    """A descriptor that becomes readable when a process exits, None where there is no such thing."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    try:
        loop.add_reader(descriptor, event.set)
        await event.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
