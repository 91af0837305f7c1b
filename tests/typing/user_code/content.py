"""Models as values: building, reading, copying, parsing, dumping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from acp_bindings import v1
from acp_bindings.v1 import (
    Annotations,
    BlobResourceContents,
    ContentBlock,
    ContentBlockAudio,
    ContentBlockImage,
    ContentBlockResource,
    ContentBlockResourceLink,
    ContentBlockText,
    McpServer,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
    SessionUpdate,
    TextContent,
    TextResourceContents,
    ToolCall,
)
from acp_runtime import Model, SchemaSource

BLOCKS: TypeAdapter[list[ContentBlock]] = TypeAdapter(list[ContentBlock])
UPDATE: TypeAdapter[SessionUpdate] = TypeAdapter(SessionUpdate)


def build(texts: Iterable[str]) -> list[ContentBlock]:
    blocks: list[ContentBlock] = [ContentBlockText(text=text) for text in texts]
    blocks.append(ContentBlockImage(data="aGk=", mime_type="image/png"))
    blocks.append(ContentBlockAudio(data="aGk=", mime_type="audio/wav", annotations=Annotations(audience=["user"])))
    blocks += [ContentBlockResourceLink(name="a", uri="file:///a", size=3, type="resource_link")]
    blocks.append(ContentBlockResource(resource=TextResourceContents(text="b", uri="file:///b")))
    return blocks


def plain(block: ContentBlock) -> str:
    """Narrow with isinstance, exhaustively."""
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, (ContentBlockImage, ContentBlockAudio)):
        return block.mime_type
    if isinstance(block, ContentBlockResourceLink):
        return block.title or block.name
    resource = block.resource
    return resource.blob if isinstance(resource, BlobResourceContents) else resource.text


def label(block: ContentBlock) -> str:
    """Narrow by tag, exhaustively."""
    if block.type == "text":
        return block.text
    if block.type == "image" or block.type == "audio":  # noqa: PLR1714 - type checkers narrow by comparisons
        return block.data
    return block.type


def where(server: McpServer) -> str:
    match server:
        case McpServerHttp(url=url) | McpServerSse(url=url):
            return url
        case McpServerStdio():
            return " ".join([server.command, *server.args])


def optional(call: ToolCall) -> tuple[str, int | None, bool]:
    line = call.locations[0].line if call.locations else None
    priority = call.meta.get("priority") if call.meta else None
    name: str = call.name if call.name is not None else call.title
    given = "name" in call.model_fields_set
    return f"{name}{priority}", line, given


def change(call: ToolCall) -> ToolCall:
    return call.model_copy(update={"title": "new"})


def parse(text: str) -> v1.PromptRequest | None:
    try:
        return v1.PromptRequest.model_validate_json(text)
    except ValidationError:
        return None


def parse_any(text: str, decoded: Mapping[str, Any]) -> list[str]:
    update = UPDATE.validate_json(text)
    call = ToolCall.model_validate(decoded)
    return [update.session_update, call.title, *[plain(block) for block in BLOCKS.validate_json(text)]]


def dump(model: Model) -> tuple[str, dict[str, Any]]:
    return model.model_dump_json(), model.model_dump(mode="json")


def provenance() -> str:
    source: SchemaSource = v1.SCHEMA
    return f"{source.version} {source.sha256} {v1.PROTOCOL_VERSION + 1}"


USED = {ContentBlockText(text="a"): 1}
