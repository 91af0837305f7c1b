"""The scripted client, written with this package."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp_bindings.v1 import (
    Client,
    ClientCapabilities,
    ContentBlock,
    ContentBlockImage,
    ContentBlockResource,
    ContentBlockResourceLink,
    ContentBlockText,
    CreateElicitationRequest,
    CreateElicitationResponse,
    CreateElicitationResponseAccept,
    CreateTerminalRequest,
    CreateTerminalResponse,
    Implementation,
    InitializeResponse,
    KillTerminalRequest,
    KillTerminalResponse,
    McpServer,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
    PromptResponse,
    ReadTextFileRequest,
    ReadTextFileResponse,
    ReleaseTerminalRequest,
    ReleaseTerminalResponse,
    RemoteAgent,
    RequestPermissionOutcomeSelected,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    SessionUpdateAgentMessageChunk,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
    WriteTextFileRequest,
    WriteTextFileResponse,
    spawn_agent,
)
from acp_runtime import MethodNotFound, RequestError
from acp_runtime.models.model import Model
from tests.support.interop.reuse import reused
from tests.support.interop.their_client import Command

SCRIPT: dict[str, Any] = json.loads(Path(__file__).with_name("script.json").read_text("utf-8"))


class ScriptedClient(Client):
    """Remembers everything it was told and asked, and gives the answers that a test wants.

    Attributes:
        agent: the other side.
        updates: of sessions, as they came.
        asked: every request but those for permission, as method and params.
        allows: which option a user selects when asked for permission; None if the user never answers.
    """

    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent
        self._news = asyncio.Event()
        self.forget()

    def forget(self) -> None:
        """Be as new."""
        self.updates: list[SessionNotification] = []
        self.asked: list[tuple[str, Model]] = []
        self.noted: list[tuple[str, Any]] = []
        self.allows: str | None = "allow"

    async def session_update(self, notification: SessionNotification) -> None:
        self.updates.append(notification)
        self._news.set()

    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        self.asked.append(("session/request_permission", request))
        self._news.set()
        if self.allows is None:
            await asyncio.Event().wait()
        return RequestPermissionResponse(outcome=RequestPermissionOutcomeSelected(option_id=str(self.allows)))

    async def fs_read_text_file(self, request: ReadTextFileRequest) -> ReadTextFileResponse:
        self.asked.append(("fs/read_text_file", request))
        match request.path:
            case "/missing":
                raise RequestError(**SCRIPT["error"])
            case "/crash":
                raise RuntimeError(SCRIPT["secret"])
        return ReadTextFileResponse(content="second line\n")

    async def fs_write_text_file(self, request: WriteTextFileRequest) -> WriteTextFileResponse:
        self.asked.append(("fs/write_text_file", request))
        return WriteTextFileResponse()

    async def terminal_create(self, request: CreateTerminalRequest) -> CreateTerminalResponse:
        self.asked.append(("terminal/create", request))
        return CreateTerminalResponse(terminal_id="t-1")

    async def terminal_output(self, request: TerminalOutputRequest) -> TerminalOutputResponse:
        self.asked.append(("terminal/output", request))
        return TerminalOutputResponse(output="making\n", truncated=True)

    async def terminal_kill(self, request: KillTerminalRequest) -> KillTerminalResponse:
        self.asked.append(("terminal/kill", request))
        return KillTerminalResponse()

    async def terminal_wait_for_exit(self, request: WaitForTerminalExitRequest) -> WaitForTerminalExitResponse:
        self.asked.append(("terminal/wait_for_exit", request))
        return WaitForTerminalExitResponse(signal="SIGKILL")

    async def terminal_release(self, request: ReleaseTerminalRequest) -> ReleaseTerminalResponse:
        self.asked.append(("terminal/release", request))
        return ReleaseTerminalResponse()

    async def elicitation_create(self, request: CreateElicitationRequest) -> CreateElicitationResponse:
        self.asked.append(("elicitation/create", request))
        return CreateElicitationResponseAccept(content={"name": "Ada", "age": 36, "sure": True})

    async def ext_request(self, method: str, params: Any) -> Any:
        if method != "_interop/ask":
            raise MethodNotFound(method)
        return {"method": method, "params": params, "noted": self.noted}

    async def ext_notification(self, method: str, params: Any) -> None:
        self.noted.append((method, params))

    async def initialize(self) -> InitializeResponse:
        return await self.agent.initialize(
            protocol_version=1,
            client_capabilities=ClientCapabilities.model_validate(SCRIPT["clientCapabilities"]),
            client_info=Implementation.model_validate(SCRIPT["clientInfo"]),
        )

    async def prompt(self, text: str, *blocks: ContentBlock) -> PromptResponse:
        return await self.agent.session_prompt(session_id="new", prompt=[ContentBlockText(text=text), *blocks])

    async def until(self, what: str) -> None:
        """Wait for a text of the agent's, or a request by its method."""
        while what not in [*self.texts(), *(method for method, _ in self.asked)]:
            self._news.clear()
            await self._news.wait()

    def texts(self) -> list[str]:
        """What the agent has said."""
        return [
            each.update.content.text
            for each in self.updates
            if isinstance(each.update, SessionUpdateAgentMessageChunk)
            and isinstance(each.update.content, ContentBlockText)
        ]


@asynccontextmanager
async def connected(command: Command, *flags: str) -> AsyncIterator[ScriptedClient]:
    """Our client of an agent in a subprocess, before `initialize`."""
    clients: list[ScriptedClient] = []

    def make(agent: RemoteAgent) -> ScriptedClient:
        clients.append(ScriptedClient(agent))
        return clients[0]

    async with spawn_agent(make, *command, *flags):
        yield clients[0]


@asynccontextmanager
async def in_session(command: Command) -> AsyncIterator[ScriptedClient]:
    """Our client of an agent in a subprocess, with a session that is called `new`; kept for the next test."""
    async with reused(command, lambda: _started(command)) as client:
        client.forget()
        yield client


@asynccontextmanager
async def _started(command: Command) -> AsyncIterator[ScriptedClient]:
    async with connected(command) as client:
        await client.initialize()
        session = await client.agent.session_new(cwd="/tmp", mcp_servers=[])
        assert session.session_id == "new"
        yield client


def mcp_servers() -> list[McpServer]:
    """One of each transport."""
    kinds = (McpServerStdio, McpServerHttp, McpServerSse)
    return [kind.model_validate(each) for kind, each in zip(kinds, SCRIPT["mcpServers"], strict=True)]


def content() -> list[ContentBlock]:
    """One of each kind that the agent takes beside text."""
    kinds = (ContentBlockImage, ContentBlockResourceLink, ContentBlockResource)
    return [kind.model_validate(each) for kind, each in zip(kinds, SCRIPT["content"], strict=True)]


def plain(model: Model) -> Any:
    """A model as JSON that is decoded."""
    return json.loads(model.model_dump_json())
