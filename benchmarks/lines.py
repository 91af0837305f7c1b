"""Messages as lines that agents send. They are the same in every run."""

from __future__ import annotations

import json
import random
from typing import Any

Update = dict[str, Any]

SESSION = "8f14e45f-ceea-467f-a0d1-000000000001"
_WORDS = ("the", "model", "reads", "each", "file,", "changes", "what", "fails", "and", "runs", "every", "test", "again")


def chunks(count: int) -> bytes:
    """Return lines with an `agent_message_chunk` of a few words each: 190 to 260 bytes."""
    seeded = random.Random(5)
    return b"".join(line_of(agent_message(seeded)) for _ in range(count))


def of_size(size: int) -> bytes:
    """Return a line with one `agent_message_chunk` that has this many characters of text."""
    line = "a line of an ordinary file, with its end\n"
    return line_of(chunk("agent_message_chunk", (line * (size // len(line) + 1))[:size]))


def line_of(update: Update) -> bytes:
    """Return the `session/update` notification of an update."""
    params = {"sessionId": SESSION, "update": update}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def words(seeded: random.Random, limit: int) -> str:
    """Return one to `limit` words."""
    return " ".join(seeded.choices(_WORDS, k=seeded.randint(1, limit)))


def chunk(kind: str, text: str) -> Update:
    """Return an update with a piece of text."""
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def agent_message(seeded: random.Random) -> Update:
    """Return an `agent_message_chunk` with a few words."""
    return chunk("agent_message_chunk", words(seeded, 10))
