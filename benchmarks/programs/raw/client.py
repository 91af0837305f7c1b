"""A client that costs next to nothing: `client.py <task as JSON> <agent> [<argument> ...]` counts lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

CHUNK = 1024 * 1024


class Agent:
    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.ids = 0

    def request(self, method: str, params: Any) -> Any:
        """Send a request and wait for its result; nothing may come before it."""
        self._send(method, params)
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self._read()
        return json.loads(answer)["result"]

    def prompt(self, session: str, count: int, size: int) -> None:
        """Have that many updates streamed, and wait for the answer behind them."""
        text = {"type": "text", "text": f"{count} {size}"}
        self._send("session/prompt", {"sessionId": session, "prompt": [text]})
        missing = count + 1
        while missing:
            missing -= self._read().count(b"\n")

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _send(self, method: str, params: Any) -> None:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params}
        self.ids += 1
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def _read(self) -> bytes:
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), CHUNK)
        if not data:
            raise SystemExit("the agent ended before it answered")
        return data


def main(task: dict[str, Any], command: list[str]) -> None:
    agent = Agent(command)
    agent.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    session = agent.request("session/new", {"cwd": "/tmp", "mcpServers": []})["sessionId"]
    agent.prompt(session, task["warm"], 40)
    started = time.perf_counter()
    agent.prompt(session, task["count"], task["size"])
    seconds = time.perf_counter() - started
    agent.end()
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
