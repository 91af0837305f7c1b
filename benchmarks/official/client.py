"""A client for the official SDK: `client.py acp|acp_kit.official UPDATES TURNS`. Prints seconds as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from acp import text_block

AGENT = Path(__file__).with_name("agent.py")


class Counter:
    """Counts the updates."""

    count = 0

    async def session_update(self, **_: Any) -> None:
        self.count += 1


async def main(package: str, updates: int, turns: int) -> None:
    client = Counter()
    command = (sys.executable, str(AGENT), package)
    async with import_module(package).spawn_agent_process(client, *command) as (agent, _):
        await agent.initialize(protocol_version=1)
        await agent.new_session(cwd="/")

        async def prompt(count: int) -> Any:
            return await agent.prompt(session_id="s", prompt=[text_block(str(count))])

        await prompt(10)
        client.count = 0
        start, cpu = time.perf_counter(), time.process_time()
        response = await prompt(updates)
        seconds = {
            "sent": response.field_meta["cpu"] / updates,
            "received": (time.process_time() - cpu) / updates,
            "stream": (time.perf_counter() - start) / updates,
        }
        assert client.count == updates
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(turns):
            await prompt(0)
        seconds["called"] = (time.process_time() - cpu) / turns
        seconds["turn"] = (time.perf_counter() - start) / turns
        print(json.dumps(seconds))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
