"""A typical agent of version 1."""

from __future__ import annotations

from typing import Any

from acp_bindings.v1 import (
    PROTOCOL_VERSION,
    Agent,
    AgentCapabilities,
    CancelNotification,
    ContentBlockText,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    PermissionOption,
    PlanEntry,
    PromptCapabilities,
    PromptRequest,
    PromptResponse,
    RemoteClient,
    RequestPermissionOutcomeSelected,
    SessionUpdateAgentMessageChunk,
    SessionUpdatePlan,
    SessionUpdateToolCall,
    StopReason,
    ToolCallContentContent,
    ToolCallContentDiff,
    ToolCallLocation,
    ToolCallUpdate,
)
from acp_runtime import MethodNotFound, RequestError


class EchoAgent(Agent):
    def __init__(self, client: RemoteClient) -> None:
        self.client = client
        self.sessions: dict[str, str] = {}
        self.can_read = False

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        self.can_read = request.client_capabilities.fs.read_text_file
        name = request.client_info.name if request.client_info else "a client"
        return InitializeResponse(
            protocol_version=min(request.protocol_version, PROTOCOL_VERSION),
            agent_capabilities=AgentCapabilities(
                load_session=True, prompt_capabilities=PromptCapabilities(image=True, embedded_context=True)
            ),
            agent_info=Implementation(name="echo", version="1.0", title=f"Echo for {name}"),
        )

    async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
        session_id = f"session-{len(self.sessions)}"
        self.sessions[session_id] = request.cwd
        servers = [server.name for server in request.mcp_servers]
        return NewSessionResponse(session_id=session_id, meta={"servers": servers})

    async def session_load(self, request: LoadSessionRequest) -> LoadSessionResponse:
        if request.session_id not in self.sessions:
            raise RequestError(-32002, "Resource not found", {"sessionId": request.session_id})
        return LoadSessionResponse()

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        for block in request.prompt:
            if isinstance(block, ContentBlockText):
                await self.say(request.session_id, block.text.upper())
        await self.plan(request.session_id)
        allowed = await self.ask(request.session_id)
        reason: StopReason = "end_turn" if allowed else "refusal"
        return PromptResponse(stop_reason=reason)

    async def session_cancel(self, notification: CancelNotification) -> None:
        self.sessions.pop(notification.session_id, None)

    async def ext_request(self, method: str, params: Any) -> Any:
        if method == "_example.com/sessions":
            return {"sessions": sorted(self.sessions)}
        raise MethodNotFound(method)

    async def say(self, session_id: str, text: str) -> None:
        await self.client.session_update(
            session_id=session_id, update=SessionUpdateAgentMessageChunk(content=ContentBlockText(text=text))
        )

    async def plan(self, session_id: str) -> None:
        entries = [PlanEntry(content="Echo", priority="high", status="in_progress")]
        await self.client.session_update(session_id=session_id, update=SessionUpdatePlan(entries=entries))
        call = SessionUpdateToolCall(
            tool_call_id="1",
            title="Edit a file",
            kind="edit",
            status="pending",
            content=[
                ToolCallContentDiff(path="/project/a", old_text=None, new_text="b"),
                ToolCallContentContent(content=ContentBlockText(text="done")),
            ],
            locations=[ToolCallLocation(path="/project/a", line=3)],
            raw_input={"path": "/project/a"},
        )
        await self.client.session_update(session_id=session_id, update=call, meta=None)

    async def ask(self, session_id: str) -> bool:
        answer = await self.client.session_request_permission(
            session_id=session_id,
            tool_call=ToolCallUpdate(tool_call_id="1", status="in_progress"),
            options=(
                PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
                PermissionOption(option_id="no", name="No", kind="reject_once"),
            ),
        )
        outcome = answer.outcome
        return isinstance(outcome, RequestPermissionOutcomeSelected) and outcome.option_id == "yes"

    async def read(self, session_id: str, path: str) -> str:
        if not self.can_read:
            return ""
        found = await self.client.fs_read_text_file(session_id=session_id, path=path, limit=10)
        return found.content

    async def run(self, session_id: str) -> int | None:
        terminal = await self.client.terminal_create(session_id=session_id, command="ls", args=["-l"], cwd=None)
        done = await self.client.terminal_wait_for_exit(session_id=session_id, terminal_id=terminal.terminal_id)
        await self.client.terminal_release(session_id=session_id, terminal_id=terminal.terminal_id)
        return done.exit_code


def make(client: RemoteClient) -> Agent:
    return EchoAgent(client)
