"""Rule 13: Ctrl-C in a handler ends the program, unlike other exceptions."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from acp_bindings.v1 import PromptRequest, PromptResponse, SessionNotification, connect_in_process
from tests.support.runtime.peer import PlainAgent, PlainClient, chunk


class Telling(PlainAgent):
    """An agent that sends two updates in each prompt."""

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        await self.client.session_update(session_id="s", update=chunk("1"))
        await self.client.session_update(session_id="s", update=chunk("2"))
        return await super().session_prompt(request)


class InterruptedAgent(PlainAgent):
    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        raise KeyboardInterrupt


class InterruptedClient(PlainClient):
    async def session_update(self, notification: SessionNotification, /) -> None:
        raise KeyboardInterrupt


# A second Ctrl-C while asyncio.run cancels its tasks leaves some of them behind.
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("agent_factory", "client_factory"),
    [(Telling, InterruptedClient), (InterruptedAgent, PlainClient)],
    ids=["of a notification", "of a request"],
)
def test_rule_13_ctrl_c_in_a_handler_ends_the_program_and_closes_the_connection(
    agent_factory: Any, client_factory: Any
) -> None:
    ended: list[object] = []

    async def main() -> None:
        async with connect_in_process(agent_factory, client_factory) as agent:
            await agent.initialize(protocol_version=1)
            try:
                await agent.session_prompt(session_id="s", prompt=[])
            except BaseException as error:
                ended.append(type(error))  # the error itself would keep the tasks
                raise
        ended.append("never")

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    gc.collect()  # frees them in this test and not in a later one
    assert ended == [asyncio.CancelledError]
