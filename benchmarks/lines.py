"""Lines as agents send them, the same on every run."""

from __future__ import annotations

import json
import random
from typing import Any

SESSION = "8f14e45f-ceea-467f-a0d1-000000000001"
_WORDS = "the model reads each file, then it changes what fails, runs every test again and says so in short".split()


def chunks(count: int) -> bytes:
    """So many `agent_message_chunk`, each of some words: 160 to 250 bytes."""
    seeded = random.Random(5)
    return b"".join(_line(_chunk(seeded)) for _ in range(count))


def _chunk(seeded: random.Random) -> dict[str, Any]:
    text = " ".join(seeded.choices(_WORDS, k=seeded.randint(1, 15)))
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def _line(update: dict[str, Any]) -> bytes:
    params = {"sessionId": SESSION, "update": update}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
