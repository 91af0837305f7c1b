"""A client that a test interrupts, with an agent that ignores EOF and signals: `python -m <this module> <phase>`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from acp_bindings.v1 import spawn_agent
from acp_runtime import Options
from tests.support.runtime.peer import PlainClient

# Its forked child also ignores everything, and keeps its pipes open.
IMMORTAL = """
import os, signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
os.fork()
os.write(1, b"{}\\n")
while True:
    signal.pause()
"""


async def main(phase: str) -> None:
    options = Options(exit_deadline=0.3, terminate_deadline=0.3)
    async with spawn_agent(PlainClient, sys.executable, "-S", "-c", IMMORTAL, options=options) as agent:
        os.write(1, b"entered\n")
        if phase == "calling":
            await agent.initialize(protocol_version=1)
        if phase == "stopping":
            asyncio.get_running_loop().stop()
        if phase != "leaving":
            await asyncio.Event().wait()


if __name__ == "__main__":
    # A shell makes background commands ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.write(1, b"loaded\n")
    asyncio.run(main(sys.argv[1]))
