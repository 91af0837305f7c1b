"""An agent that costs next to nothing: `agent.py <file of lines>` answers each prompt after that many of the lines."""

from __future__ import annotations

import json
import os
import sys
from itertools import accumulate

SESSION = "8f14e45f-ceea-467f-a0d1-000000000001"
RESULTS = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": {"sessionId": SESSION},
    "session/prompt": {"stopReason": "end_turn"},
}


def main(path: str) -> None:
    with open(path, "rb") as file:
        data = file.read()
    ends = [0, *accumulate(len(line) for line in data.splitlines(keepends=True))]
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "session/prompt":
            count = int(message["params"]["prompt"][0]["text"].split()[0])
            while count:  # more than the file has: from its beginning again
                lines = min(count, len(ends) - 1)
                write(memoryview(data)[: ends[lines]])
                count -= lines
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": RESULTS[message["method"]]}
            write(memoryview(json.dumps(answer).encode() + b"\n"))


def write(data: memoryview) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main(sys.argv[1])
