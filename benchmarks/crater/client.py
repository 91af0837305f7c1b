"""A client that starts an agent and asks it something: the other side of a project's agent in `make crater`."""

from __future__ import annotations

import asyncio
import os
import sys

from acp_bindings.v1 import spawn_agent
from acp_kit.client import open_session
from tests.support.kit.turns import Viewer


async def main() -> None:
    """Write what the agent answers."""
    async with spawn_agent(Viewer, *sys.argv[1:]) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd=os.getcwd()) as session:
            sys.stdout.write(await session.ask("hello"))


if __name__ == "__main__":
    asyncio.run(main())
