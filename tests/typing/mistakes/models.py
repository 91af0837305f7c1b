"""Mistakes with models."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import assert_never

from pydantic import TypeAdapter

from acp_bindings import v1, v2_draft

TEXT = v1.ContentBlockText(text="a")

# Constructors
v1.ContentBlockText(text="a", colour="red")  # type: ignore
v1.ContentBlockText("a")  # type: ignore
v1.ContentBlockText()  # type: ignore
v1.ContentBlockText(text=1)  # type: ignore
v1.ContentBlockText(text=None)  # type: ignore
v1.ContentBlockText(text="a", type="image")  # type: ignore
v1.ContentBlockText(text="a", _meta={})  # type: ignore
v1.ContentBlockText(text="a", meta=["b"])  # type: ignore
v1.ContentBlockImage(data="a", mimeType="image/png")  # type: ignore
v1.ContentBlockImage(data="a", mime_type=b"image/png")  # type: ignore
v1.PromptRequest(sessionId="1", prompt=[TEXT])  # type: ignore
v1.PromptRequest(session_id="1", prompt=TEXT)  # type: ignore
v1.PromptRequest(session_id="1", prompt=["text"])  # type: ignore
v1.PromptRequest(session_id="1", prompt=[v1.SessionUpdateAgentMessageChunk(content=TEXT)])  # type: ignore
v1.PromptRequest(session_id=None, prompt=[TEXT])  # type: ignore
v1.PromptRequest(session_id="1", prompt=None)  # type: ignore
v1.PromptRequest(session_id="1")  # type: ignore
v1.PromptResponse(stop_reason="done")  # type: ignore
v1.PlanEntry(content="a", priority="urgent", status="pending")  # type: ignore
v1.ToolCall(tool_call_id="1", title="a", kind="reed")  # type: ignore
v1.ToolCall(tool_call_id="1", title="a", content=None)  # type: ignore
v1.SessionUpdateAgentMessageChunk(content=TEXT, session_update="agent_thought_chunk")  # type: ignore
v1.SessionNotification(session_id="1", update=TEXT)  # type: ignore
v1.SessionNotification(session_id="1", update={"sessionUpdate": "plan", "entries": []})  # type: ignore
v1.InitializeRequest(protocol_version="1")  # type: ignore
v1.InitializeRequest(protocol_version=1, client_capabilities=None)  # type: ignore
v1.InitializeRequest(protocol_version=1, client_capabilities={"terminal": True})  # type: ignore
v2_draft.ContentBlockOther(payload="a")  # type: ignore
v2_draft.ContentBlockOther(type=1, payload="a")  # type: ignore
v2_draft.PromptRequest(session_id="1", prompt=[TEXT])  # type: ignore
v1.Unknown  # type: ignore
v1.MessageMcpRequest  # type: ignore


# Attributes
def attributes(request: v1.InitializeRequest, update: v1.SessionNotification, block: v1.ContentBlock) -> None:
    print(request.protocolVersion)  # type: ignore
    print(request.protcol_version)  # type: ignore
    print(request.client_info.name)  # type: ignore
    print(request.client_capabilities["terminal"])  # type: ignore
    print(request.protocol_version.lower())  # type: ignore
    print(update.update.content)  # type: ignore
    print(block.text)  # type: ignore
    print(block.annotations.audience)  # type: ignore


# Values are immutable
def assignments(block: v1.ContentBlockText, call: v1.ToolCall, other: v2_draft.ContentBlockOther) -> None:
    block.text = "b"  # type: ignore
    block.type = "text"  # type: ignore
    block.colour = "red"  # type: ignore
    call.title = "b"  # type: ignore
    other.type = "b"  # type: ignore
    del block.text  # pyright: ignore


# Literals, unions and types
def narrowing(reason: v1.StopReason, block: v1.ContentBlock) -> str:
    if reason == "done":  # type: ignore
        return ""
    if block.type == "movie":  # type: ignore
        return ""
    match reason:
        case "end_turn" | "max_tokens":
            return ""
        case _:
            assert_never(reason)  # type: ignore


def types(block: v1.ContentBlock, blocks: list[v1.ContentBlock]) -> int:
    text: v1.ContentBlockText = block  # type: ignore
    texts: list[v1.ContentBlockText] = blocks  # type: ignore
    adapter: TypeAdapter[v1.ContentBlock] = TypeAdapter(v1.ContentBlock)
    parsed: v1.ContentBlockImage = adapter.validate_json("{}")  # type: ignore
    request: v1.PromptResponse = v1.PromptRequest.model_validate_json("{}")  # type: ignore
    return f"{text} {texts} {parsed} {request}"  # type: ignore
