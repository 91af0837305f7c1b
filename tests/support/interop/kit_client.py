"""A client that serves files, terminals and permissions with acp_kit, for agents written with other SDKs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from acp_bindings.v1 import (
    Client,
    ClientCapabilities,
    ContentBlockText,
    RemoteAgent,
    RequestPermissionRequest,
    SessionNotification,
    spawn_agent,
)
from acp_kit.client import (
    FileHandlers,
    PermissionHandlers,
    PermissionPolicy,
    SessionState,
    TerminalHandlers,
    Terminals,
    Workspace,
    allow,
    reject,
)
from tests.support.interop.reuse import reused
from tests.support.interop.their_client import Command


class KitClient(FileHandlers, TerminalHandlers, PermissionHandlers, Client):
    """Serves a folder, terminals in it, and permission to read.

    Attributes:
        agent: the proxy of the agent.
        root: the folder.
        asked: is set when the user is asked for permission.
        answer: the option that the user selects; None if the user never answers.
    """

    def __init__(self, agent: RemoteAgent, root: Path, terminals: Terminals) -> None:
        self.agent = agent
        self.root = root
        self.workspace = Workspace(root)
        self.terminals = terminals
        self.permissions = PermissionPolicy(allow(kinds={"read"}, under=root), reject(kinds={"delete"}), ask=self._ask)
        self.asked = asyncio.Event()
        self.answer: str | None = None
        self._state = SessionState()

    async def run(self, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Let the agent call methods of this client, and return the results and errors that it got."""
        self._state = SessionState()
        await self.agent.session_prompt(session_id="new", prompt=[ContentBlockText(text=json.dumps(calls))])
        results: list[dict[str, Any]] = json.loads(self._state.text)
        return results

    async def session_update(self, notification: SessionNotification) -> None:
        self._state.apply(notification.update)

    async def _ask(self, request: RequestPermissionRequest) -> str | None:
        self.asked.set()
        if self.answer is None:
            await asyncio.Event().wait()
        return self.answer


@asynccontextmanager
async def with_kit(command: Command) -> AsyncIterator[KitClient]:
    """Yield a client with the session `new`. The connection is reused by other tests."""
    async with reused(command, lambda: _started(command)) as client:
        client.asked.clear()
        client.answer = None
        yield client


@asynccontextmanager
async def _started(command: Command) -> AsyncIterator[KitClient]:
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        async with (
            Terminals(root) as terminals,
            spawn_agent(lambda agent: KitClient(agent, root, terminals), *command) as agent,
        ):
            client = agent.handler
            assert isinstance(client, KitClient)
            capabilities = ClientCapabilities(fs=client.workspace.capabilities(), terminal=True)
            await agent.initialize(protocol_version=1, client_capabilities=capabilities)
            await agent.session_new(cwd=str(root), mcp_servers=[])
            yield client
