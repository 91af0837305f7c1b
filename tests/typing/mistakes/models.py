"""Mistakes with models."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import assert_never

from pydantic import TypeAdapter

from acp_bindings import v1, v2_draft
from acp_bindings.v1 import (
    ContentBlock,
    ContentBlockImage,
    ContentBlockText,
    InitializeRequest,
    PlanEntry,
    PromptRequest,
    PromptResponse,
    SessionNotification,
    SessionUpdateAgentMessageChunk,
    StopReason,
    ToolCall,
)

TEXT = ContentBlockText(text="a")

# Constructors
ContentBlockText(text="a", colour="red")  # type: ignore
ContentBlockText("a")  # type: ignore
ContentBlockText()  # type: ignore
ContentBlockText(text=1)  # type: ignore
ContentBlockText(text=None)  # type: ignore
ContentBlockText(text="a", type="image")  # type: ignore
ContentBlockText(text="a", _meta={})  # type: ignore
ContentBlockText(text="a", meta=["b"])  # type: ignore
ContentBlockImage(data="a", mimeType="image/png")  # type: ignore
ContentBlockImage(data="a", mime_type=b"image/png")  # type: ignore
PromptRequest(sessionId="1", prompt=[TEXT])  # type: ignore
PromptRequest(session_id="1", prompt=TEXT)  # type: ignore
PromptRequest(session_id="1", prompt=["text"])  # type: ignore
PromptRequest(session_id="1", prompt=[SessionUpdateAgentMessageChunk(content=TEXT)])  # type: ignore
PromptRequest(session_id=None, prompt=[TEXT])  # type: ignore
PromptRequest(session_id="1", prompt=None)  # type: ignore
PromptRequest(session_id="1")  # type: ignore
PromptResponse(stop_reason="done")  # type: ignore
PlanEntry(content="a", priority="urgent", status="pending")  # type: ignore
ToolCall(tool_call_id="1", title="a", kind="reed")  # type: ignore
ToolCall(tool_call_id="1", title="a", content=None)  # type: ignore
SessionUpdateAgentMessageChunk(content=TEXT, session_update="agent_thought_chunk")  # type: ignore
SessionNotification(session_id="1", update=TEXT)  # type: ignore
SessionNotification(session_id="1", update={"sessionUpdate": "plan", "entries": []})  # type: ignore
InitializeRequest(protocol_version="1")  # type: ignore
InitializeRequest(protocol_version=1, client_capabilities=None)  # type: ignore
InitializeRequest(protocol_version=1, client_capabilities={"terminal": True})  # type: ignore
v2_draft.ContentBlockOther(payload="a")  # type: ignore
v2_draft.ContentBlockOther(type=1, payload="a")  # type: ignore
v2_draft.PromptRequest(session_id="1", prompt=[TEXT])  # type: ignore
v1.Unknown  # type: ignore
v1.MessageMcpRequest  # type: ignore


# Attributes
def attributes(request: InitializeRequest, update: SessionNotification, block: ContentBlock) -> None:
    print(request.protocolVersion)  # type: ignore
    print(request.protcol_version)  # type: ignore
    print(request.client_info.name)  # type: ignore
    print(request.client_capabilities["terminal"])  # type: ignore
    print(request.protocol_version.lower())  # type: ignore
    print(update.update.content)  # type: ignore
    print(block.text)  # type: ignore
    print(block.annotations.audience)  # type: ignore


# Values are immutable
def assignments(block: ContentBlockText, call: ToolCall, other: v2_draft.ContentBlockOther) -> None:
    block.text = "b"  # type: ignore
    block.type = "text"  # type: ignore
    block.colour = "red"  # type: ignore
    call.title = "b"  # type: ignore
    other.type = "b"  # type: ignore
    del block.text  # pyright: ignore


# Literals, unions and types
def narrowing(reason: StopReason, block: ContentBlock) -> str:
    if reason == "done":  # type: ignore
        return ""
    if block.type == "movie":  # type: ignore
        return ""
    match reason:
        case "end_turn" | "max_tokens":
            return ""
        case _:
            assert_never(reason)  # type: ignore


def types(block: ContentBlock, blocks: list[ContentBlock]) -> int:
    text: ContentBlockText = block  # type: ignore
    texts: list[ContentBlockText] = blocks  # type: ignore
    adapter: TypeAdapter[ContentBlock] = TypeAdapter(ContentBlock)
    parsed: ContentBlockImage = adapter.validate_json("{}")  # type: ignore
    request: PromptResponse = PromptRequest.model_validate_json("{}")  # type: ignore
    return f"{text} {texts} {parsed} {request}"  # type: ignore
