"""The scripted client, written with this package, for agents written with other SDKs."""

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
from acp_kit.client import deliver_update
from acp_runtime import MethodNotFound, RequestError, handles
from acp_runtime.models.model import Model
from tests.support.interop.extensions import ADD, ADDING, Numbers, Sum
from tests.support.interop.reuse import reused
from tests.support.interop.their_client import Command

SCRIPT: dict[str, Any] = json.loads(Path(__file__).with_name("script.json").read_text("utf-8"))


class ScriptedClient(Client):
    """Records received messages, and answers requests from the script.

    Attributes:
        agent: the proxy of the agent.
        initialized: the response to `initialize`.
        updates: the received `session/update` notifications.
        requests: the received requests, as method and params.
        notifications: the received extension notifications, as method and params.
        selected_option: the option that the user selects in permission requests; None if the user never answers.
    """

    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent
        self.initialized: InitializeResponse | None = None
        self.updates: list[SessionNotification] = []
        self.requests: list[tuple[str, Model]] = []
        self.notifications: list[tuple[str, Any]] = []
        self.selected_option: str | None = "allow"
        self._changed = asyncio.Event()

    def reset(self) -> None:
        """Forget the messages of an earlier test."""
        self.updates.clear()
        self.requests.clear()
        self.notifications.clear()
        self.selected_option = "allow"

    async def session_update(self, notification: SessionNotification) -> None:
        deliver_update(self.agent, notification)
        self.updates.append(notification)
        self._changed.set()

    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        self.requests.append(("session/request_permission", request))
        self._changed.set()
        if self.selected_option is None:
            await asyncio.Event().wait()
        return RequestPermissionResponse(outcome=RequestPermissionOutcomeSelected(option_id=str(self.selected_option)))

    async def fs_read_text_file(self, request: ReadTextFileRequest) -> ReadTextFileResponse:
        self.requests.append(("fs/read_text_file", request))
        match request.path:
            case "/missing":
                raise RequestError(**SCRIPT["error"])
            case "/crash":
                raise RuntimeError(SCRIPT["secret"])
        return ReadTextFileResponse(content="second line\n")

    async def fs_write_text_file(self, request: WriteTextFileRequest) -> WriteTextFileResponse:
        self.requests.append(("fs/write_text_file", request))
        return WriteTextFileResponse()

    async def terminal_create(self, request: CreateTerminalRequest) -> CreateTerminalResponse:
        self.requests.append(("terminal/create", request))
        return CreateTerminalResponse(terminal_id="t-1")

    async def terminal_output(self, request: TerminalOutputRequest) -> TerminalOutputResponse:
        self.requests.append(("terminal/output", request))
        return TerminalOutputResponse(output="making\n", truncated=True)

    async def terminal_kill(self, request: KillTerminalRequest) -> KillTerminalResponse:
        self.requests.append(("terminal/kill", request))
        return KillTerminalResponse()

    async def terminal_wait_for_exit(self, request: WaitForTerminalExitRequest) -> WaitForTerminalExitResponse:
        self.requests.append(("terminal/wait_for_exit", request))
        return WaitForTerminalExitResponse(signal="SIGKILL")

    async def terminal_release(self, request: ReleaseTerminalRequest) -> ReleaseTerminalResponse:
        self.requests.append(("terminal/release", request))
        return ReleaseTerminalResponse()

    async def elicitation_create(self, request: CreateElicitationRequest) -> CreateElicitationResponse:
        self.requests.append(("elicitation/create", request))
        return CreateElicitationResponseAccept(content={"name": "Ada", "age": 36, "sure": True})

    async def ext_request(self, method: str, params: Any) -> Any:
        if method != "_interop/ask":
            raise MethodNotFound(method)
        return {"method": method, "params": params, "notifications": self.notifications}

    async def ext_notification(self, method: str, params: Any) -> None:
        self.notifications.append((method, params))

    @handles(ADD)
    async def add(self, params: Numbers) -> Sum:
        return Sum(total=sum(params.numbers))

    @handles(ADDING)
    async def adding(self, params: Numbers) -> None:
        self.notifications.append((ADDING.wire, params))

    async def initialize(self) -> InitializeResponse:
        self.initialized = await self.agent.initialize(
            protocol_version=1,
            client_capabilities=ClientCapabilities.model_validate(SCRIPT["clientCapabilities"]),
            client_info=Implementation.model_validate(SCRIPT["clientInfo"]),
        )
        return self.initialized

    async def prompt(self, text: str, *blocks: ContentBlock) -> PromptResponse:
        return await self.agent.session_prompt(session_id="new", prompt=[ContentBlockText(text=text), *blocks])

    async def until(self, text_or_method: str) -> None:
        """Wait until the agent has sent a text, or a request with a method."""
        while text_or_method not in [*self.texts(), *(method for method, _ in self.requests)]:
            self._changed.clear()
            await self._changed.wait()

    def texts(self) -> list[str]:
        """Return the texts of the agent's messages."""
        return [
            each.update.content.text
            for each in self.updates
            if isinstance(each.update, SessionUpdateAgentMessageChunk)
            and isinstance(each.update.content, ContentBlockText)
        ]


@asynccontextmanager
async def connected(command: Command, *flags: str) -> AsyncIterator[ScriptedClient]:
    """Start an agent and yield our client, which has not called `initialize` yet."""
    clients: list[ScriptedClient] = []

    def make(agent: RemoteAgent) -> ScriptedClient:
        clients.append(ScriptedClient(agent))
        return clients[0]

    async with spawn_agent(make, *command, *flags):
        yield clients[0]


@asynccontextmanager
async def in_session(command: Command) -> AsyncIterator[ScriptedClient]:
    """Yield our client with the session `new`. The connection is reused by other tests."""
    async with reused(command, lambda: _started(command)) as client:
        client.reset()
        yield client


@asynccontextmanager
async def initialized(command: Command) -> AsyncIterator[ScriptedClient]:
    """Yield our client without a session. The connection is reused by other tests, which open sessions themselves."""
    async with reused([*command, "initialized"], lambda: _initialized(command)) as client:
        client.reset()
        yield client


@asynccontextmanager
async def _initialized(command: Command) -> AsyncIterator[ScriptedClient]:
    async with connected(command) as client:
        await client.initialize()
        yield client


@asynccontextmanager
async def _started(command: Command) -> AsyncIterator[ScriptedClient]:
    async with _initialized(command) as client:
        session = await client.agent.session_new(cwd="/tmp", mcp_servers=[])
        assert session.session_id == "new"
        yield client


def mcp_servers() -> list[McpServer]:
    """Return an MCP server for each transport."""
    kinds = (McpServerStdio, McpServerHttp, McpServerSse)
    return [kind.model_validate(each) for kind, each in zip(kinds, SCRIPT["mcpServers"], strict=True)]


def content() -> list[ContentBlock]:
    """Return a content block of each kind that the agent accepts, except text."""
    kinds = (ContentBlockImage, ContentBlockResourceLink, ContentBlockResource)
    return [kind.model_validate(each) for kind, each in zip(kinds, SCRIPT["content"], strict=True)]


def plain(model: Model) -> Any:
    """Return the decoded JSON of a model."""
    return json.loads(model.model_dump_json())
