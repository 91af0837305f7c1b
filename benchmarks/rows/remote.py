"""A row about many clients of one server, over WebSocket."""

from __future__ import annotations

from functools import partial

from benchmarks.implementations import PEERS, TYPESCRIPT_SDK, Task, program, run
from benchmarks.measuring import Quantity, Row, at_least
from benchmarks.setup import Setup

CONNECTIONS = 1000
UPDATES = 100
# What plain uvicorn reaches. Its documented interface has no way to send several messages at once.
LEAST = {TYPESCRIPT_SDK: 0.7}


def rows(setup: Setup) -> list[Row]:
    connections, count = setup.scaled(CONNECTIONS, least=50), setup.scaled(UPDATES, least=20)
    servers = setup.implementations
    task: Task = {"connections": connections, "warm": 10, "count": count}
    raw = program("raw", "websockets.py")
    return [
        Row(
            name="websockets",
            description=f"A process serves {connections:,} raw WebSockets with a session each. All prompt at once, and "
            f"each receives {count} updates. Timed from the prompts to the last response; a lost update fails. "
            "Memory: what a connection with an idle session adds to the server. The Python servers run on uvicorn, "
            "which makes a system call for each message.",
            quantities=[
                Quantity("seconds", "updates/s", count=connections * count),
                Quantity("idle", "KiB a connection", factor=1 / 1024),
            ],
            measures={name: partial(run, raw, task, *servers.command(name, "agent")) for name in servers.names},
            targets=[
                *(at_least(LEAST.get(peer, 1), better_than=peer) for peer in PEERS),
                *(at_least(1, better_than=peer, key="idle") for peer in PEERS),
            ],
            missing=servers.missing,
        )
    ]
