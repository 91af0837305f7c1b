"""Takes a turn, because our package and asyncio load and build much when they are first used."""

from __future__ import annotations

import asyncio

from acp_bindings.v1 import ContentBlockText, PromptRequest, PromptResponse, connect_in_process
from tests.support.runtime.peer import PlainAgent, PlainClient, chunk


class Updating(PlainAgent):
    """Answers a prompt with one update."""

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        await self.client.session_update(session_id=request.session_id, update=chunk("hello"))
        return await super().session_prompt(request)


async def turn() -> None:
    async with connect_in_process(Updating, PlainClient) as agent:
        await agent.initialize(protocol_version=1)
        await agent.session_new(cwd="/", mcp_servers=[])
        await agent.session_prompt(session_id="s1", prompt=[ContentBlockText(text="hi")])


asyncio.run(turn())
