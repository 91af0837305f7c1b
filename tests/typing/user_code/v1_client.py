"""A client of version 1, and its calls to the agent."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, assert_never

from acp_bindings import v1
from acp_runtime import ABSENT


class Editor(v1.Client):
    def __init__(self, agent: v1.RemoteAgent, files: dict[str, str] | None = None) -> None:
        self.agent = agent
        self.files = files or {}
        self.log: list[str] = []

    async def session_update(self, notification: v1.SessionNotification) -> None:
        update = notification.update
        match update:
            case v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=text)):
                self.log.append(text)
            case v1.SessionUpdateToolCall() | v1.SessionUpdateToolCallUpdate():
                self.log.append(f"{update.title or '?'}: {update.status or 'pending'}")
            case v1.SessionUpdatePlan(entries=entries):
                self.log.extend(f"{entry.status} {entry.content}" for entry in entries)
            case _:
                self.log.append(update.session_update)

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        for option in request.options:
            if option.kind == "allow_once":
                return v1.RequestPermissionResponse(
                    outcome=v1.RequestPermissionOutcomeSelected(option_id=option.option_id)
                )
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())

    async def fs_read_text_file(self, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        lines = self.files[request.path].splitlines()
        start = (request.line or 1) - 1
        end = None if request.limit is None else start + request.limit
        return v1.ReadTextFileResponse(content="\n".join(lines[start:end]))

    async def ext_notification(self, method: str, params: Any) -> None:
        self.log.append(method)


def explain(reason: v1.StopReason) -> str:
    match reason:
        case "end_turn":
            return "done"
        case "max_tokens" | "max_turn_requests":
            return "too long"
        case "refusal":
            return "refused"
        case "cancelled":
            return "cancelled"
        case _:
            assert_never(reason)


async def converse(agent: v1.RemoteAgent, blocks: Sequence[v1.ContentBlock]) -> str:
    """Calls with keywords."""
    start = await agent.initialize(
        protocol_version=v1.PROTOCOL_VERSION,
        client_capabilities=v1.ClientCapabilities(fs=v1.FileSystemCapabilities(read_text_file=True), terminal=True),
        client_info=v1.Implementation(name="editor", version="2"),
    )
    if start.auth_methods:
        await agent.authenticate(method_id=start.auth_methods[0].id)
    server = v1.McpServerStdio(name="files", command="/bin/files", args=[], env=[v1.EnvVariable(name="A", value="b")])
    session = await agent.session_new(cwd="/work", mcp_servers=[server])
    turn = await agent.session_prompt(session_id=session.session_id, prompt=blocks)
    await agent.session_prompt(session_id=session.session_id, prompt=[v1.ContentBlockText(text="and now?")])
    await agent.session_set_config_option(session_id=session.session_id, config_id="fast", type="boolean", value=True)
    await agent.session_set_config_option(session_id=session.session_id, config_id="model", value="large")
    await agent.session_cancel(session_id=session.session_id)
    await agent.ext_notification("_example.com/ping")
    pong: object = await agent.ext_request("_example.com/ping", {"n": 1})
    return explain(turn.stop_reason) + str(pong)


async def ready_made(agent: v1.RemoteAgent) -> str:
    """Calls with request objects, whose type determines the type of the result."""
    await agent.request(v1.InitializeRequest(protocol_version=1))
    session: v1.NewSessionResponse = await agent.request(v1.NewSessionRequest(cwd="/work", mcp_servers=[]))
    prompt = v1.PromptRequest(session_id=session.session_id, prompt=[v1.ContentBlockText(text="hi")])
    turn = await agent.request(prompt)
    option = v1.SetSessionConfigOptionRequestBoolean(session_id=session.session_id, config_id="fast", value=True)
    options = await agent.request(option)
    await agent.notify(v1.CancelNotification(session_id=session.session_id))
    return f"{turn.stop_reason} {len(options.config_options)}"


async def left_out(agent: v1.RemoteAgent, folders: tuple[str, ...], title: str | None) -> v1.ToolCallUpdate:
    """Calls with `ABSENT` for optional keywords, and with any sequence for a list."""
    await agent.session_new(
        cwd="/work", mcp_servers=(), additional_directories=folders or ABSENT, meta={"a": 1} if folders else ABSENT
    )
    await agent.session_load(session_id="1", cwd="/work", mcp_servers=deque[v1.McpServer]())
    await agent.session_set_config_option(session_id="1", config_id="fast", type="boolean", value=True, meta=ABSENT)
    update = v1.SessionUpdateToolCallUpdate(tool_call_id="1", title=title or ABSENT, kind=ABSENT, content=ABSENT)
    return update.model_copy(update={"title": ABSENT})


def make(agent: v1.RemoteAgent) -> v1.Client:
    return Editor(agent, {"/a": "b"})
