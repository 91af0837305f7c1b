"""Mistakes with models."""

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
ContentBlockText(text="a", colour="red")  # E
ContentBlockText("a")  # E
ContentBlockText()  # E
ContentBlockText(text=1)  # E
ContentBlockText(text=None)  # E
ContentBlockText(text="a", type="image")  # E
ContentBlockText(text="a", _meta={})  # E
ContentBlockText(text="a", meta=["b"])  # E
ContentBlockImage(data="a", mimeType="image/png")  # E
ContentBlockImage(data="a", mime_type=b"image/png")  # E
PromptRequest(sessionId="1", prompt=[TEXT])  # E
PromptRequest(session_id="1", prompt=TEXT)  # E
PromptRequest(session_id="1", prompt=["text"])  # E
PromptRequest(session_id="1", prompt=[SessionUpdateAgentMessageChunk(content=TEXT)])  # E
PromptRequest(session_id=None, prompt=[TEXT])  # E
PromptRequest(session_id="1", prompt=None)  # E
PromptRequest(session_id="1")  # E
PromptResponse(stop_reason="done")  # E
PlanEntry(content="a", priority="urgent", status="pending")  # E
ToolCall(tool_call_id="1", title="a", kind="reed")  # E
ToolCall(tool_call_id="1", title="a", content=None)  # E
SessionUpdateAgentMessageChunk(content=TEXT, session_update="agent_thought_chunk")  # E
SessionNotification(session_id="1", update=TEXT)  # E
SessionNotification(session_id="1", update={"sessionUpdate": "plan", "entries": []})  # E
InitializeRequest(protocol_version="1")  # E
InitializeRequest(protocol_version=1, client_capabilities=None)  # E
InitializeRequest(protocol_version=1, client_capabilities={"terminal": True})  # E
v2_draft.ContentBlockOther(payload="a")  # E
v2_draft.ContentBlockOther(type=1, payload="a")  # E
v2_draft.PromptRequest(session_id="1", prompt=[TEXT])  # E
v1.Unknown  # E
v1.MessageMcpRequest  # E


# Attributes
def attributes(request: InitializeRequest, update: SessionNotification, block: ContentBlock) -> None:
    print(request.protocolVersion)  # E
    print(request.protcol_version)  # E
    print(request.client_info.name)  # E
    print(request.client_capabilities["terminal"])  # E
    print(request.protocol_version.lower())  # E
    print(update.update.content)  # E
    print(block.text)  # E
    print(block.annotations.audience)  # E


# Values are immutable
def assignments(block: ContentBlockText, call: ToolCall, other: v2_draft.ContentBlockOther) -> None:
    block.text = "b"  # E
    block.type = "text"  # E
    block.colour = "red"  # E
    call.title = "b"  # E
    other.type = "b"  # E
    del block.text  # E: pyright


# Literals, unions and types
def narrowing(reason: StopReason, block: ContentBlock) -> str:
    if reason == "done":  # E
        return ""
    if block.type == "movie":  # E
        return ""
    match reason:
        case "end_turn" | "max_tokens":
            return ""
        case _:
            assert_never(reason)  # E


def types(block: ContentBlock, blocks: list[ContentBlock]) -> int:
    text: ContentBlockText = block  # E
    texts: list[ContentBlockText] = blocks  # E
    adapter: TypeAdapter[ContentBlock] = TypeAdapter(ContentBlock)
    parsed: ContentBlockImage = adapter.validate_json("{}")  # E
    request: PromptResponse = PromptRequest.model_validate_json("{}")  # E
    return f"{text} {texts} {parsed} {request}"  # E
