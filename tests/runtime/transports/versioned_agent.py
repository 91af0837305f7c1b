"""`versioned_agent.py <profiles>`: an agent on stdin and stdout that has these profiles, separated by commas."""

from __future__ import annotations

import asyncio
import os
import sys
from importlib import import_module
from typing import Any

import acp_bindings
from tests.support.runtime.any_profile import agent_of


def agent(profile: str) -> Any:
    class Telling(agent_of(import_module(f"acp_bindings.{profile}"))):  # type: ignore[misc]
        def __init__(self, client: Any) -> None:
            super().__init__(client)
            if "FACTORY_RAISES" in os.environ:
                raise ZeroDivisionError

        async def ext_request(self, method: str, params: Any) -> Any:
            return os.getpid()

    return Telling


if __name__ == "__main__":
    asyncio.run(acp_bindings.serve_stdio(**{version: agent(version) for version in sys.argv[1].split(",")}))
