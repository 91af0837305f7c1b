"""Models as values: building, reading, copying, parsing, dumping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from acp_bindings import v1
from acp_runtime import Model, SchemaSource

BLOCKS: TypeAdapter[list[v1.ContentBlock]] = TypeAdapter(list[v1.ContentBlock])
UPDATE: TypeAdapter[v1.SessionUpdate] = TypeAdapter(v1.SessionUpdate)


def build(texts: Iterable[str]) -> list[v1.ContentBlock]:
    blocks: list[v1.ContentBlock] = [v1.ContentBlockText(text=text) for text in texts]
    blocks.append(v1.ContentBlockImage(data="aGk=", mime_type="image/png"))
    blocks.append(
        v1.ContentBlockAudio(data="aGk=", mime_type="audio/wav", annotations=v1.Annotations(audience=["user"]))
    )
    blocks += [v1.ContentBlockResourceLink(name="a", uri="file:///a", size=3, type="resource_link")]
    blocks.append(v1.ContentBlockResource(resource=v1.TextResourceContents(text="b", uri="file:///b")))
    return blocks


def plain(block: v1.ContentBlock) -> str:
    """Narrow with isinstance, exhaustively."""
    if isinstance(block, v1.TextContent):
        return block.text
    if isinstance(block, (v1.ContentBlockImage, v1.ContentBlockAudio)):
        return block.mime_type
    if isinstance(block, v1.ContentBlockResourceLink):
        return block.title or block.name
    resource = block.resource
    return resource.blob if isinstance(resource, v1.BlobResourceContents) else resource.text


def label(block: v1.ContentBlock) -> str:
    """Narrow by tag, exhaustively."""
    if block.type == "text":
        return block.text
    if block.type == "image" or block.type == "audio":  # noqa: PLR1714 - type checkers narrow by comparisons
        return block.data
    return block.type


def where(server: v1.McpServer) -> str:
    match server:
        case v1.McpServerHttp(url=url) | v1.McpServerSse(url=url):
            return url
        case v1.McpServerStdio():
            return " ".join([server.command, *server.args])


def optional(call: v1.ToolCall) -> tuple[str, int | None, bool]:
    line = call.locations[0].line if call.locations else None
    priority = call.meta.get("priority") if call.meta else None
    name: str = call.name if call.name is not None else call.title
    given = "name" in call.model_fields_set
    return f"{name}{priority}", line, given


def change(call: v1.ToolCall) -> v1.ToolCall:
    return call.model_copy(update={"title": "new"})


def parse(text: str) -> v1.PromptRequest | None:
    try:
        return v1.PromptRequest.model_validate_json(text)
    except ValidationError:
        return None


def parse_any(text: str, decoded: Mapping[str, Any]) -> list[str]:
    update = UPDATE.validate_json(text)
    call = v1.ToolCall.model_validate(decoded)
    return [update.session_update, call.title, *[plain(block) for block in BLOCKS.validate_json(text)]]


def dump(model: Model) -> tuple[str, dict[str, Any]]:
    return model.model_dump_json(), model.model_dump(mode="json")


def provenance() -> str:
    source: SchemaSource = v1.SCHEMA
    return f"{source.version} {source.sha256} {v1.PROTOCOL_VERSION + 1}"


USED = {v1.ContentBlockText(text="a"): 1}
