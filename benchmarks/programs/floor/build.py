"""The floor of sending: `build.py <warm> <count> <size>` only builds each update and dumps it to JSON."""

from __future__ import annotations

import json
import sys
import time

from acp_bindings.v1 import ContentBlockText, SessionNotification, SessionUpdateAgentMessageChunk


def text_of(size: int) -> str:
    """Return this many characters of ordinary lines."""
    line = "a line of an ordinary file, with its end\n"
    return (line * (size // len(line) + 1))[:size]


def build_updates(count: int, size: int) -> None:
    text = text_of(size)
    for _ in range(count):
        notification = SessionNotification(
            session_id="8f14e45f-ceea-467f-a0d1-000000000001",
            update=SessionUpdateAgentMessageChunk(content=ContentBlockText(text=text)),
        )
        SessionNotification.__pydantic_serializer__.to_json(notification)


def main(warm: int, count: int, size: int) -> None:
    build_updates(warm, size)
    started = time.perf_counter()
    build_updates(count, size)
    print(json.dumps({"seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
