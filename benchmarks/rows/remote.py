"""Rows about many clients of one server, over WebSocket."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from benchmarks.implementations import FLOOR, OURS, PEERS, Task, program, run
from benchmarks.measuring import Measure, Quantity, Row, at_least, at_most
from benchmarks.setup import Setup

CONNECTIONS = 1000
UPDATES = 100


def rows(setup: Setup) -> list[Row]:
    offered = "As clients usually do (ws, browsers, the Python package websockets), they offer to compress. "
    return [
        websockets(setup, "websockets", offer=False),
        websockets(setup, "compression", offered + "What a server makes of it is its default. ", offer=True),
        compressed(setup),
    ]


def websockets(setup: Setup, name: str, more: str = "", *, offer: bool) -> Row:
    connections, count = setup.scaled(CONNECTIONS, least=50), setup.scaled(UPDATES, least=20)
    servers = setup.implementations
    task: Task = {"connections": connections, "warm": 10, "count": count, "offer": offer, "serve": "remote"}
    raw = program("raw", "websockets.py")
    return Row(
        name=name,
        description=f"A process serves {connections:,} raw WebSockets with a session each. All prompt at once, and "
        f"each receives {count} updates. Timed from the prompts to the last response; a lost update fails. "
        f"{more}Memory: what a connection with an idle session adds to the server. The Python ones are "
        "served by uvicorn.",
        quantities=[
            Quantity("seconds", "updates/s", count=connections * count),
            Quantity("idle", "KiB a connection", factor=1 / 1024),
        ],
        measures={name: partial(run, raw, task, *servers.command(name, "agent")) for name in servers.names},
        targets=[at_least(1, better_than=peer, key=key) for key in ("seconds", "idle") for peer in PEERS],
        missing=servers.missing,
    )


def compressed(setup: Setup) -> Row:
    row, servers = websockets(setup, "compressed", offer=True), setup.implementations
    connections, count = setup.scaled(CONNECTIONS, least=50), setup.scaled(UPDATES, least=20)
    task: Task = {"connections": connections, "warm": 10, "count": count, "offer": True}
    measures: dict[str, Measure] = {
        name: partial(run, program("raw", "websockets.py"), {**task, "serve": how}, *servers.command(OURS, "agent"))
        for name, how in ((OURS, "compressed"), (FLOOR, "remote"))
    }
    return replace(
        row,
        description="The same clients, whose messages our server compresses: `run(app, ws_per_message_deflate=True)`. "
        "Floor: our server as it is by default.",
        measures=measures,
        targets=[at_most(2), at_most(2, key="idle")],
        missing={},
    )
