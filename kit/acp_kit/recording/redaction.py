"""Redacts secrets in messages."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, cast

from acp_kit.recording.file_format import Recorded, wire_line, with_infinite_numbers
from acp_kit.recording.secrets_in_texts import SECRET_NAME, redact_texts
from acp_runtime.jsonrpc import ANY, parse, write

_REDACTED = "[redacted]"
_AUTHORIZATION = ("authorization", "proxy-authorization")
_SECRET = ("env", "headers", "cookie", "set-cookie", *_AUTHORIZATION)

_SECRET_MEMBER = re.compile(rf"(?:{SECRET_NAME}|pwd|(?:\A|[_-]|db|pg|user)pass)s?\Z", re.IGNORECASE)
_SECRET_OPTION = re.compile(rf"--?[\w-]*(?:{SECRET_NAME}|key)", re.IGNORECASE)
_USER_OPTIONS = ("-u", "-U", "--user", "--proxy-user")


def redact(line: bytes, *, to_share: bool = False) -> bytes:
    """Return a message as JSON with recognizable secrets redacted.

    Secrets are the values of `env`, `headers` and keys that look like secrets (`authorization`, `apiKey`, `token`). In
    all texts, they are the user and password of URLs (`https://user:password@host`), query parameters whose names end
    with words such as `key`, `token` or `secret`, private keys, tokens of a known form, cookies, and the text after
    `Bearer`, `--api-key=` and `API_KEY=`. A line that isn't JSON becomes a note with its size.

    Args:
        line: the message.
        to_share: whether somebody else will read it. Then all texts in `_meta`, all query parameters, all values
            that are assigned to names of secrets, and passwords in commands are redacted, too. This may redact more
            than needed.
    """
    try:
        value = parse(line)
    except ValueError:
        return b'"%d bytes that are not JSON"' % len(line)
    unvisited: list[object] = [value]
    while unvisited:
        node = unvisited.pop()
        if isinstance(node, dict):
            unvisited += _redact_members(cast("dict[str, Any]", node), to_share=to_share)
        elif isinstance(node, list):
            items = cast("list[object]", node)
            for index, item in enumerate(items[:-1]):
                argument = items[index + 1]
                if isinstance(item, str) and isinstance(argument, str) and _takes_secret(item, argument):
                    items[index + 1] = _REDACTED
            unvisited += items
    return redact_texts(with_infinite_numbers(write(ANY.to_json, value)), to_share=to_share)


def redact_recorded(recorded: Recorded) -> Recorded:
    """Return a line of a recording without secrets, to share it.

    A line of a client or an agent that isn't JSON, but may be a part of a message, becomes a note with its size.
    """
    data = wire_line(recorded) if recorded.line is None else json.dumps(recorded.line).encode()
    redacted = json.loads(redact(data, to_share=True))
    if recorded.line is None:
        return recorded._replace(message=redacted)
    is_fragment = recorded.direction != "stderr" and not {'"', "{"}.isdisjoint(recorded.line)
    return recorded._replace(line=f"[{len(recorded.line)} characters]" if is_fragment else redacted)


def _redact_members(fields: dict[str, Any], *, to_share: bool) -> list[object]:
    """Redact the values of members that hold secrets, and return the others."""
    others: list[object] = []
    name = str(fields.get("name"))
    has_secret_value = name.lower() in _AUTHORIZATION or _names_secret(name)
    for key, value in fields.items():
        if key.lower() in _SECRET:
            fields[key] = _redact_values(value)
        elif _names_secret(key) or (has_secret_value and key == "value") or (to_share and key == "_meta"):
            fields[key] = _without_texts(value)
        else:
            others.append(value)
    return others


def _takes_secret(option: str, value: str) -> bool:
    return bool(_SECRET_OPTION.fullmatch(option)) or (option in _USER_OPTIONS and ":" in value)


@lru_cache(1024)
def _names_secret(key: str) -> bool:
    return _SECRET_MEMBER.search(key[-40:]) is not None


def _redact_values(value: object) -> object:
    """Redact variables or headers, given as an object or as a list of names and values. Names are kept."""
    if isinstance(value, list):
        return [_redact_fields(item) for item in cast("list[object]", value)]
    return _redact_fields(value)


def _redact_fields(value: object) -> object:
    if not isinstance(value, dict):
        return _REDACTED
    fields = cast("dict[str, Any]", value)
    name = fields.get("name") if "value" in fields else None
    return {key: name if key == "name" and isinstance(name, str) else _REDACTED for key in fields}


def _without_texts(value: object) -> object:
    """Redact all texts in a value. Numbers, booleans and names stay, so that it still fits the schema."""
    if isinstance(value, str):
        return _REDACTED
    if isinstance(value, list):
        return [_without_texts(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: _without_texts(item) for key, item in cast("dict[str, object]", value).items()}
    return value
