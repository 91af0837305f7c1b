"""An agent that costs almost nothing: `agent.py <file of lines> [<file for the first prompt>]` writes lines.

A prompt's text is the number of lines. The files are repeated as often as needed. Uses only the standard library.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import accumulate
from typing import Any

SESSION = "8f14e45f-ceea-467f-a0d1-000000000001"
RESULTS: dict[str, Any] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": {"sessionId": SESSION},
    "session/prompt": {"stopReason": "end_turn"},
}


class Lines:
    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self.data = memoryview(file.read())
        self.ends = [0, *accumulate(len(line) for line in self.data.tobytes().splitlines(keepends=True))]

    def write(self, count: int) -> None:
        while count:
            lines = min(count, len(self.ends) - 1)
            write(self.data[: self.ends[lines]])
            count -= lines


def write(data: memoryview) -> None:
    while data:
        data = data[os.write(1, data) :]


def main(paths: list[str]) -> None:
    files = [Lines(path) for path in paths]
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "session/prompt":
            lines = files.pop() if len(files) > 1 else files[0]
            lines.write(int(message["params"]["prompt"][0]["text"].split()[0]))
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": RESULTS[message["method"]]}
            write(memoryview(json.dumps(answer).encode() + b"\n"))


if __name__ == "__main__":
    main(sys.argv[1:])
