"""Converts histories to messages for language models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count, groupby
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from acp_kit.common.texts import join_texts
from acp_kit.updates.entries import key_of
from acp_kit.updates.messages import Message
from acp_kit.updates.timeline import Timeline

if TYPE_CHECKING:
    from acp_bindings.v1 import SessionUpdate

_ROLES: Final[dict[str, Literal["user", "assistant"]]] = {"user": "user", "agent": "assistant"}
_IMAGE_TYPES = frozenset(("image/gif", "image/jpeg", "image/png", "image/webp"))
# Ids and names of tool calls that all endpoints accept.
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64

_NOT_FINISHED = "This did not finish."
_WITHOUT_OUTPUT = {"completed": "Done.", "failed": "This failed."}


def to_openai(updates: Iterable[SessionUpdate], *, images: bool = True) -> list[Any]:
    """Convert a history to messages for Chat Completions, of OpenAI or another endpoint.

    For example:

        messages = to_openai([update async for update in history.read(session_id)])

    These are the user's and the agent's messages, and the tool calls, each followed by its result. The result of a tool
    call that did not finish says so. Thoughts, plans, settings and messages without text are left out.

    A tool call has the `name`, `raw_input` and `raw_output` that the agent has given it. By default, these are its
    kind, no arguments, and the text of its content. Ids and names that an endpoint refuses are changed.

    Args:
        updates: the updates that `HistoryStore.read` yields.
        images: whether the model accepts images in the user's messages. `to_text` makes text of other
            images, and of content that the endpoint doesn't accept.

    Returns:
        Dicts of plain JSON. Add a system prompt and the user's next message.
    """
    return [message for part in _messages(updates, images) for message in _openai_messages(part)]


def to_anthropic(updates: Iterable[SessionUpdate], *, images: bool = True) -> list[Any]:
    """Convert a history to messages for Anthropic's Messages API.

    For example:

        messages = to_anthropic([update async for update in history.read(session_id)])

    These are the messages of `to_openai`, with the images of tool calls. The roles alternate, and the first message is
    the user's: a short one is added if the agent spoke first.

    Args:
        updates: the updates that `HistoryStore.read` yields.
        images: whether the model accepts images. `to_text` makes text of other images, and of content that the
            endpoint doesn't accept.

    Returns:
        Dicts of plain JSON. Add the user's next message.
    """
    merged: list[Any] = []
    for message in chain.from_iterable(_anthropic_messages(part, images) for part in _messages(updates, images)):
        if merged and merged[-1]["role"] == message["role"]:
            merged[-1]["content"] += message["content"]
        else:
            merged.append(message)
    if merged and merged[0]["role"] == "assistant":
        merged.insert(0, {"role": "user", "content": [{"type": "text", "text": "(The assistant spoke first.)"}]})
    return merged


@dataclass
class _Message:
    """A message of a conversation.

    Attributes:
        parts: texts and blocks of images. No two texts are adjacent, and none is empty.
        call: the tool call at its end; None if there is none. Only messages of the assistant have one.
        call_id: the id of the tool call for the endpoint.
    """

    role: Literal["user", "assistant"]
    parts: list[Any]
    call: Any = None
    call_id: str = ""


def _messages(updates: Iterable[Any], images: bool) -> list[_Message]:
    timeline = Timeline()
    messages = list[_Message]()
    for update in updates:
        timeline.apply(update)
    timeline.refresh()
    ids: set[str] = set()
    for entry in timeline.entries.values():
        role = _ROLES.get(entry.role) if isinstance(entry, Message) else None
        if role is not None:
            _add_parts(messages, role, _parts(entry.content, images=images and role == "user"))
        elif (key := key_of(entry)) is not None and key[0] == "tool_call":
            if not messages or messages[-1].role == "user" or messages[-1].call is not None:
                messages.append(_Message("assistant", []))
            messages[-1].call = entry
            messages[-1].call_id = _new_id(key[1], ids)
    return messages


def _add_parts(messages: list[_Message], role: Literal["user", "assistant"], parts: list[Any]) -> None:
    if parts and messages and messages[-1].role == role and messages[-1].call is None:
        messages[-1].parts = _join([*messages[-1].parts, *parts])
    elif parts:
        messages.append(_Message(role, parts))


def _parts(blocks: Iterable[Any], *, images: bool) -> list[Any]:
    """Return blocks as texts and images. Adjacent blocks of text are one text."""
    from acp_kit.content import to_text

    parts: list[Any] = []
    for is_text, group in groupby(blocks, lambda block: block.type == "text"):
        if is_text:
            parts.append(join_texts(block.text for block in group))
        else:
            parts += [block if images and _is_accepted_image(block) else to_text([block]) for block in group]
    return _join(parts)


def _is_accepted_image(block: Any) -> bool:
    return block.type == "image" and block.mime_type in _IMAGE_TYPES and bool(block.data)


def _join(parts: Iterable[Any]) -> list[Any]:
    """Join adjacent texts with newlines. Drop texts of white space, which endpoints refuse."""
    joined: list[Any] = []
    for part in map(_without_surrogates, parts):
        if not isinstance(part, str):
            joined.append(part)
        elif part.strip() and joined and isinstance(joined[-1], str):
            joined[-1] = f"{joined[-1]}\n{part}"
        elif part.strip():
            joined.append(part)
    return joined


def _without_surrogates(value: Any) -> Any:
    """Return a copy of plain JSON without lone surrogates, which UTF-8 can't encode. Blocks stay as they are."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {
            _without_surrogates(name): _without_surrogates(member)
            for name, member in cast("dict[str, Any]", value).items()
        }
    if isinstance(value, list):
        return [_without_surrogates(item) for item in cast("list[object]", value)]
    return value


def _new_id(wanted: str, ids: set[str]) -> str:
    """Return the id of a tool call, or a new one if endpoints refuse it or it is in `ids`. Add it to `ids`."""
    if not _ID.fullmatch(wanted) or wanted in ids:
        wanted = next(id for number in count(1) if (id := f"call-{number}") not in ids)
    ids.add(wanted)
    return wanted


def _name(call: Any) -> str:
    return _NOT_IN_NAMES.sub("_", call.name or call.kind or "other")[:_LONGEST_NAME]


def _arguments(call: Any) -> dict[str, Any]:
    arguments = call.raw_input
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        arguments = {"input": arguments}
    return cast("dict[str, Any]", _without_surrogates(arguments))


def _result(call: Any, *, images: bool) -> list[Any]:
    """Return the result of a tool call as at least one text or image."""
    blocks = [block.content for block in call.content if block.type == "content"]
    parts = [part for block in blocks for part in _parts([block], images=images)]
    output = call.raw_output
    if output is None and call.status == "completed":
        parts += [f"Changed {block.path}" for block in call.content if block.type == "diff"]
    elif output is not None:
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        parts = [text, *(part for part in parts if not isinstance(part, str))]
    if call.status not in _WITHOUT_OUTPUT:
        parts.append(_NOT_FINISHED)
    return _join(parts) or [_WITHOUT_OUTPUT[call.status]]


def _openai_messages(message: _Message) -> Iterator[Any]:
    if message.role == "user":
        texts = [part for part in message.parts if isinstance(part, str)]
        yield {"role": "user", "content": texts[0] if texts == message.parts else [*map(_openai_part, message.parts)]}
        return
    answer: dict[str, Any] = {"role": "assistant"}
    if message.parts:
        answer["content"] = message.parts[0].rstrip()
    if message.call is None:
        yield answer
        return
    arguments = json.dumps(_arguments(message.call), ensure_ascii=False)
    function = {"name": _name(message.call), "arguments": arguments}
    yield {**answer, "tool_calls": [{"id": message.call_id, "type": "function", "function": function}]}
    (result,) = _result(message.call, images=False)
    yield {"role": "tool", "tool_call_id": message.call_id, "content": result}


def _openai_part(part: Any) -> Any:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_url", "image_url": {"url": f"data:{part.mime_type};base64,{part.data}"}}


def _anthropic_messages(message: _Message, images: bool) -> Iterator[Any]:
    content = [_anthropic_part(part) for part in message.parts]
    if message.role == "user":
        yield {"role": "user", "content": content}
        return
    for block in content:
        block["text"] = block["text"].rstrip()
    if message.call is None:
        yield {"role": "assistant", "content": content}
        return
    use = {"type": "tool_use", "id": message.call_id, "name": _name(message.call), "input": _arguments(message.call)}
    yield {"role": "assistant", "content": [*content, use]}
    result: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": message.call_id,
        "content": [_anthropic_part(part) for part in _result(message.call, images=images)],
    }
    if message.call.status != "completed":
        result["is_error"] = True
    yield {"role": "user", "content": [result]}


def _anthropic_part(part: Any) -> Any:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image", "source": {"type": "base64", "media_type": part.mime_type, "data": part.data}}
