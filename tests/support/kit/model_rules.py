"""The rules that endpoints of models have for a conversation, as their errors name them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from pydantic import TypeAdapter

ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
IMAGES = {"image/gif", "image/jpeg", "image/png", "image/webp"}


def check_openai(messages: list[Any]) -> None:
    """Check that each tool call is followed by its result, that no content is empty, and that messages are merged."""
    assert json.loads(json.dumps(messages)) == messages
    ids: list[str] = []
    waiting: list[str] = []
    last = ""
    for message in messages:
        role = message["role"]
        if role == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
            _check_text(message["content"])
        else:
            assert not waiting, "a tool call has no result"
            assert role in {"user", "assistant"}
            assert role != last, "two messages in a row"
            if "content" in message or role == "user":
                _check_openai_content(message["content"], role)
            waiting = [_check_openai_call(call) for call in message.get("tool_calls", [])]
            assert waiting or "content" in message
            ids += waiting
        last = role
    assert not waiting, "a tool call has no result"
    assert len(ids) == len(set(ids))


def _check_openai_call(call: Any) -> str:
    assert set(call) == {"id", "type", "function"}
    assert ID.fullmatch(call["id"])
    assert NAME.fullmatch(call["function"]["name"])
    assert isinstance(json.loads(call["function"]["arguments"]), dict)
    return str(call["id"])


def _check_openai_content(content: Any, role: str) -> None:
    if isinstance(content, str):
        _check_text(content)
        return
    assert content
    for part in content:
        if part["type"] == "text":
            _check_text(part["text"])
        else:
            assert role == "user"
            assert re.match(r"data:image/\w+;base64,.", part["image_url"]["url"])


def check_anthropic(messages: list[Any]) -> None:
    """Check that roles alternate from the user's, that results follow tool calls and come first, and more."""
    assert json.loads(json.dumps(messages)) == messages
    ids: list[str] = []
    waiting: list[str] = []
    for number, message in enumerate(messages):
        content = message["content"]
        assert message["role"] == ("assistant" if number % 2 else "user")
        assert content
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        assert results == waiting
        assert [block["type"] for block in content[: len(results)]] == ["tool_result"] * len(results)
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
        for block in content:
            _check_anthropic_block(block, message["role"])
        if message["role"] == "assistant" and content[-1]["type"] == "text":
            assert content[-1]["text"] == content[-1]["text"].rstrip()
        ids += waiting
    assert not waiting, "a tool call has no result"
    assert len(ids) == len(set(ids))


def _check_anthropic_block(block: Any, role: str) -> None:
    match block:
        case {"type": "text", "text": text}:
            _check_text(text)
        case {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": str()}}:
            assert role != "assistant"
            assert media_type in IMAGES
        case {"type": "tool_use", "id": call_id, "name": name, "input": dict()}:
            assert role == "assistant"
            assert ID.fullmatch(call_id)
            assert NAME.fullmatch(name)
        case {"type": "tool_result", "content": [_, *_] as inner}:
            assert role == "user"
            for part in inner:
                _check_anthropic_block(part, "tool")
        case _:
            raise AssertionError(f"{role} has {block}")


def validate(params: TypeAdapter[Any], messages: list[Any]) -> None:
    """Validate messages, also what pydantic only validates when it is iterated: fields that are an `Iterable`."""
    _exhaust(params.validate_python(messages))


def _exhaust(value: Any) -> None:
    if isinstance(value, dict):
        _exhaust(value.values())
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for item in value:
            _exhaust(item)


def _check_text(text: str) -> None:
    assert text.strip(), "the text is empty"
