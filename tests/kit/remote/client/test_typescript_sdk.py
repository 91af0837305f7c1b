"""A client against the HTTP server of the official TypeScript SDK."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from acp_bindings import v1
from acp_kit.remote import open_transport
from tests.support.kit.http_agent import ScriptedClient
from tests.support.paths import ROOT
from tests.support.third_party import UnavailableError, skip_without, typescript_sdk

pytestmark = pytest.mark.slow


class Client(ScriptedClient):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        super().__init__(agent)
        self.texts: list[str] = []
        clients.append(self)

    async def session_update(self, notification: v1.SessionNotification) -> None:
        match notification.update:
            case v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=text)):
                self.texts.append(text)
            case other:
                pytest.fail(f"unexpected: {other}")


clients: list[Client] = []


@asynccontextmanager
async def typescript_agent() -> AsyncGenerator[str]:
    try:
        folder = typescript_sdk()
    except UnavailableError as reason:
        skip_without("The TypeScript SDK", reason)
    program = ROOT / "tests/support/kit/typescript_http_agent.mjs"
    process = await asyncio.create_subprocess_exec("node", str(program), str(folder), stdin=PIPE, stdout=PIPE)
    assert process.stdin
    assert process.stdout
    yield f"http://127.0.0.1:{int(await process.stdout.readline())}/acp"
    process.stdin.close()
    await process.communicate()


async def test_permissions_and_loading_work_with_the_typescript_sdk() -> None:
    clients.clear()
    async with typescript_agent() as url:
        async with v1.connect(Client, await open_transport(url)) as agent:
            await agent.initialize(protocol_version=1)
            session = await agent.session_new(cwd="/", mcp_servers=[])
            for text in ("one", "two"):
                prompt = [v1.ContentBlockText(text=text)]
                answer = await agent.session_prompt(session_id=session.session_id, prompt=prompt)
                assert answer.stop_reason == "end_turn"
        async with v1.connect(Client, await open_transport(url)) as agent:
            await agent.initialize(protocol_version=1)
            await agent.session_load(session_id=session.session_id, cwd="/", mcp_servers=[])
            prompt = [v1.ContentBlockText(text="three")]
            answer = await agent.session_prompt(session_id=session.session_id, prompt=prompt)
            assert answer.stop_reason == "end_turn"
    # The SDK answers session/load on another stream than it replays on, so the order isn't promised.
    assert [each.texts for each in clients] == [["one", "two"], ["one", "two", "three"]]
