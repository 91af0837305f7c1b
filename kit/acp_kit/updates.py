"""What updates mean to each other: which chunks can be merged, and how an update changes a tool call.

Works with updates of `acp_bindings.v1` and of `v1_unstable`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import BaseModel

from acp_kit.profiles import like
from acp_runtime import ABSENT, Model

if TYPE_CHECKING:
    from acp_bindings import v1

# The fields of a chunk without further information, and of its content.
_CHUNK: Final = {"session_update", "content", "message_id", "compaction_id"}
_TEXT: Final = {"type", "text"}


def plain_text(chunk: Any) -> str | None:
    """Return the text of a chunk, or None if the chunk has anything else, such as an image, annotations or `_meta`.

    Chunks of plain text can be merged without losing anything.
    """
    content = chunk.content
    is_plain = content.__pydantic_fields_set__ == _TEXT and chunk.__pydantic_fields_set__ <= _CHUNK
    return content.text if is_plain else None


def with_text(chunk: Any, text: str) -> Any:
    """Return a copy of a chunk of plain text with another text."""
    return chunk.model_copy(update={"content": chunk.content.model_copy(update={"text": text})})


def patched(call: v1.ToolCall, update: v1.ToolCallUpdate) -> v1.ToolCall:
    """Return a tool call with the fields that an update has.

    An absent or null field leaves the tool call's unchanged. Any other value replaces it, lists as a whole.
    """
    values = given_values(update, "session_update", "tool_call_id")
    given = {name: value for name, value in values.items() if value is not None}
    # Pydantic's own copy: the values are valid already, and keys unknown to the schema are added.
    copy: Any = BaseModel.model_copy
    call_with_them: v1.ToolCall = copy(call, update=given) if given else call
    return call_with_them


def started(update: v1.ToolCallUpdate) -> v1.ToolCall:
    """Return a tool call with what an update for an unknown id says, as an update for a client.

    Without a title in the update, the title is empty.
    """
    from acp_bindings.v1 import SessionUpdateToolCall

    call = like(update, SessionUpdateToolCall)(tool_call_id=update.tool_call_id, title="")
    return patched(call, update)


def given_fields(model: Any) -> dict[str, Any]:
    """Return the fields of a model that aren't absent.

    Iterating over a model also gives the keys that the schema doesn't know, and a peer may name one like a field.
    """
    return {name: value for name, value in cast("dict[str, Any]", vars(model)).items() if value is not ABSENT}


def given_values(update: Model, *identifying: str) -> dict[str, Any]:
    """Return the given fields of an update, without those that identify it, and the keys unknown to the schema."""
    fields = type(update).model_fields
    unknown = {name: value for name, value in (update.model_extra or {}).items() if name not in fields}
    return unknown | {name: value for name, value in given_fields(update).items() if name not in identifying}
