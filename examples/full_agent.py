"""An agent with streaming, plans, tool calls, permissions, files, cancellation and sessions, but no language model.

A prompt is a line of words. `read <path>` and `write <path> <text>` ask for permission and then use the client's files.
`count <n>` counts slowly enough to be cancelled. The agent repeats any other prompt.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field

from acp_bindings.v1 import (
    Agent,
    AgentCapabilities,
    ContentBlock,
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
    PlanEntryStatus,
    PromptRequest,
    PromptResponse,
    RemoteClient,
    RequestPermissionOutcomeSelected,
    SessionUpdate,
    SessionUpdateAgentMessageChunk,
    SessionUpdatePlan,
    SessionUpdateToolCall,
    SessionUpdateToolCallUpdate,
    SessionUpdateUserMessageChunk,
    ToolCallContentContent,
    ToolCallStatus,
    ToolCallUpdate,
    serve_stdio,
)
from acp_runtime import ResourceNotFound

_ALLOW = PermissionOption(option_id="allow", name="Allow", kind="allow_once")
_REJECT = PermissionOption(option_id="reject", name="Reject", kind="reject_once")


@dataclass
class Session:
    """A session: the updates sent to the client, for replay, and the numbers of its tool calls."""

    updates: list[SessionUpdate] = field(default_factory=list["SessionUpdate"])
    call_numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))


class FullAgent(Agent):
    """An agent that keeps the history of its sessions in memory."""

    def __init__(self, client: RemoteClient) -> None:
        self.client = client
        self.sessions: dict[str, Session] = {}

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        """Return the name and the capabilities of this agent."""
        return InitializeResponse(
            protocol_version=1,
            agent_info=Implementation(name="full-agent", title="Full example agent", version="1.0.0"),
            agent_capabilities=AgentCapabilities(load_session=True),
        )

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        """Start a session."""
        session_id = f"session-{len(self.sessions) + 1}"
        self.sessions[session_id] = Session()
        return NewSessionResponse(session_id=session_id)

    async def session_load(self, request: LoadSessionRequest) -> LoadSessionResponse:
        """Send the whole conversation again, then answer."""
        for update in list(self._session(request.session_id).updates):
            await self.client.session_update(session_id=request.session_id, update=update)
        return LoadSessionResponse()

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        """Run the command in the prompt. To cancel it, the base class cancels this task."""
        session_id = request.session_id
        session = self._session(session_id)
        session.updates += [SessionUpdateUserMessageChunk(content=block) for block in request.prompt]
        match _text(request.prompt).split(maxsplit=2):
            case ["read", path]:
                await self._read(session_id, path)
            case ["write", path, text]:
                await self._write(session_id, path, text)
            case ["count", number] if number.isdecimal():
                await self._count(session_id, int(number))
            case words:
                await self._say(session_id, " ".join(words))
        return PromptResponse(stop_reason="end_turn")

    def _session(self, session_id: str) -> Session:
        session = self.sessions.get(session_id)
        if session is None:
            raise ResourceNotFound(data={"sessionId": session_id})
        return session

    async def _send(self, session_id: str, update: SessionUpdate) -> None:
        self._session(session_id).updates.append(update)
        await self.client.session_update(session_id=session_id, update=update)

    async def _say(self, session_id: str, text: str) -> None:
        """Send a text word by word."""
        for word in text.split():
            await self._send(session_id, SessionUpdateAgentMessageChunk(content=ContentBlockText(text=f"{word} ")))

    async def _count(self, session_id: str, number: int) -> None:
        for count in range(1, number + 1):
            await self._say(session_id, str(count))
            await asyncio.sleep(0.01)

    async def _read(self, session_id: str, path: str) -> None:
        await self._plan(session_id, f"Read {path}", "in_progress")
        call = await self._start_call(session_id, f"Reading {path}")
        if not await self._permitted(session_id, call, f"Read {path}?"):
            await self._end_call(session_id, call, "failed", "not permitted")
            return
        file = await self.client.fs_read_text_file(session_id=session_id, path=path)
        await self._end_call(session_id, call, "completed", file.content)
        await self._plan(session_id, f"Read {path}", "completed")
        await self._say(session_id, f"{len(file.content.splitlines())} lines")

    async def _write(self, session_id: str, path: str, text: str) -> None:
        call = await self._start_call(session_id, f"Writing {path}")
        if not await self._permitted(session_id, call, f"Write {path}?"):
            await self._end_call(session_id, call, "failed", "not permitted")
            return
        await self.client.fs_write_text_file(session_id=session_id, path=path, content=text)
        await self._end_call(session_id, call, "completed", "written")

    async def _plan(self, session_id: str, step: str, status: PlanEntryStatus) -> None:
        entry = PlanEntry(content=step, priority="medium", status=status)
        await self._send(session_id, SessionUpdatePlan(entries=[entry]))

    async def _start_call(self, session_id: str, title: str) -> str:
        call_id = f"call-{next(self._session(session_id).call_numbers)}"
        await self._send(session_id, SessionUpdateToolCall(tool_call_id=call_id, title=title, status="pending"))
        return call_id

    async def _end_call(self, session_id: str, call_id: str, status: ToolCallStatus, text: str) -> None:
        content = [ToolCallContentContent(content=ContentBlockText(text=text))]
        update = SessionUpdateToolCallUpdate(tool_call_id=call_id, status=status, content=[*content])
        await self._send(session_id, update)

    async def _permitted(self, session_id: str, call_id: str, title: str) -> bool:
        response = await self.client.session_request_permission(
            session_id=session_id,
            tool_call=ToolCallUpdate(tool_call_id=call_id, title=title),
            options=[_ALLOW, _REJECT],
        )
        return isinstance(response.outcome, RequestPermissionOutcomeSelected) and response.outcome.option_id == "allow"


def _text(blocks: list[ContentBlock]) -> str:
    return " ".join(block.text for block in blocks if isinstance(block, ContentBlockText))


if __name__ == "__main__":
    asyncio.run(serve_stdio(FullAgent))
