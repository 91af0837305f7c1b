"""An agent on stdin and stdout that has version 1 and the draft of version 2."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import acp_bindings
from acp_bindings import v1, v2_draft
from tests.support.runtime.any_profile import agent_of


def agent(profile: Any) -> Any:
    class Telling(agent_of(profile)):  # type: ignore[misc]
        async def ext_request(self, method: str, params: Any) -> Any:
            return os.getpid()

    return Telling


if __name__ == "__main__":
    asyncio.run(acp_bindings.serve_stdio(v1=agent(v1), v2_draft=agent(v2_draft)))
