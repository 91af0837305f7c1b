"""An agent that writes what it is told: `scripted.py <log> <script> [hang|exit]`, with only the standard library.

For a prompt and a load, it writes the script and the answer in one write. With `hang` it never answers a prompt; with
`exit` it ends instead. The log begins with its environment, and has each line that it received.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

RESULTS: dict[str, object] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}},
    "session/new": {"sessionId": "s"},
    "session/load": {},
    "session/list": {"sessions": []},
    "session/prompt": {"stopReason": "end_turn"},
}


def write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def main(log: str, script: str, end: str = "") -> None:
    with Path(log).open("wb", buffering=0) as file:
        file.write(json.dumps(dict(os.environ)).encode() + b"\n")
        for line in sys.stdin.buffer:
            file.write(line)
            message = json.loads(line)
            method = message.get("method")
            before = Path(script).read_bytes() if method in ("session/prompt", "session/load") else b""
            answer = {"jsonrpc": "2.0", "id": message.get("id"), "result": RESULTS.get(method)}
            silent = "id" not in message or (end and method == "session/prompt")
            write(before + (b"" if silent else json.dumps(answer).encode() + b"\n"))
            if end == "exit" and method == "session/prompt":
                os.write(2, b"out of memory\n")
                os._exit(3)


if __name__ == "__main__":
    main(*sys.argv[1:])
