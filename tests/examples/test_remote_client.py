"""`examples/remote/client.py`: what it shows, and what it sends again."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from acp_bindings import v1
from acp_kit.remote import agent_app
from acp_runtime import InternalError
from acp_runtime.transports import Transport
from examples.remote.client import converse
from tests.support.kit.remote_servers import serving

SCHEMES = pytest.mark.parametrize("scheme", ["ws", "http"])


class Server:
    """Serves agents that share a history. A prompt says what happens to it: `fail`, `lose` or `drop`.

    Attributes:
        recorded: the prompts of the history.
        received: all prompts that came.
    """

    def __init__(self) -> None:
        self.recorded: list[str] = []
        self.received: list[str] = []

    async def serve(self, transport: Transport, _: None) -> None:
        serving_task = asyncio.create_task(v1.serve(lambda client: RecordingAgent(client, self, drop), transport))

        def drop() -> None:
            serving_task.cancel()

        with suppress(asyncio.CancelledError):
            await serving_task


class RecordingAgent(v1.Agent):
    def __init__(self, client: v1.RemoteClient, server: Server, drop: object) -> None:
        self.client = client
        self.server = server
        self.drop = drop

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=v1.AgentCapabilities(load_session=True))

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id="s")

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        for number, prompt in enumerate(self.server.recorded):
            content = v1.ContentBlockText(text=prompt)
            chunk = v1.SessionUpdateUserMessageChunk(content=content, message_id=f"{number}")
            await self.client.session_update(session_id="s", update=chunk)
        return v1.LoadSessionResponse()

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        (block,) = request.prompt
        assert isinstance(block, v1.ContentBlockText)
        is_first = block.text not in self.server.received
        self.server.received.append(block.text)
        if block.text == "lose" and is_first:
            await self._drop()
        self.server.recorded.append(block.text)
        if block.text == "drop":
            await self._drop()
        if block.text == "fail":
            raise InternalError("the disk is full", data={"disk": "/dev/sda"})
        return v1.PromptResponse(stop_reason="end_turn")

    async def _drop(self) -> None:
        assert callable(self.drop)
        self.drop()
        await asyncio.Event().wait()


async def run(scheme: str, *prompts: str) -> Server:
    server = Server()
    async with serving(agent_app(server.serve), "uvicorn", errors=None) as site:
        await converse(f"{scheme}://127.0.0.1:{site.port}/acp", list(prompts))
    return server


@SCHEMES
async def test_an_error_of_the_agent_is_shown_as_that(scheme: str, capsys: pytest.CaptureFixture[str]) -> None:
    server = await run(scheme, "fail", "go on")
    assert server.received == ["fail", "go on"]
    shown = capsys.readouterr().out
    assert "[the agent failed: the disk is full (-32603)" in shown
    assert "connection lost" not in shown


@SCHEMES
async def test_a_prompt_that_the_agent_has_not_got_is_sent_again(
    scheme: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server = await run(scheme, "first", "lose", "last")
    assert server.recorded == ["first", "lose", "last"]
    assert capsys.readouterr().out.count("[connection lost: ") == 1


@SCHEMES
async def test_a_prompt_that_the_agent_has_got_is_not_sent_again(
    scheme: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server = await run(scheme, "first", "drop", "last")
    assert server.received == ["first", "drop", "last"]
    assert "user: drop\n> last" in capsys.readouterr().out
