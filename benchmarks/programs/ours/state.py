"""`state.py <count>`: applies this many chunks of one message to a `SessionState`, and times both halves."""

from __future__ import annotations

import gc
import json
import sys
import time

from acp_bindings.v1 import ContentBlockText, SessionUpdateAgentMessageChunk
from acp_kit.client import SessionState

TEXT = "a word and another, as models send "


def chunks(count: int) -> list[SessionUpdateAgentMessageChunk]:
    return [SessionUpdateAgentMessageChunk(content=ContentBlockText(text=TEXT)) for _ in range(count)]


def apply(state: SessionState, updates: list[SessionUpdateAgentMessageChunk]) -> float:
    """Return the time of applying the updates, in seconds of CPU."""
    gc.collect()
    started = time.process_time()
    for update in updates:
        state.apply(update)
    return time.process_time() - started


def main(count: int) -> None:
    apply(SessionState(), chunks(min(count, 1000)))
    state = SessionState()
    first, second = (apply(state, chunks(count // 2)) for _ in range(2))
    assert len(state.text) == count // 2 * 2 * len(TEXT)
    print(json.dumps({"seconds": first + second, "growth": second / first}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
