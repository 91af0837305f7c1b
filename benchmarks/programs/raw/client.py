"""A client that costs almost nothing: `client.py <task as JSON> <agent> [<argument> ...]` counts lines.

The task `updates` is the same as that of the other clients. `start` times a new process until its first line, the
response of `initialize`, or the response of a first prompt, depending on `until`. Uses only the standard library.
"""

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
        """Send a request and return its result, which must be the next message."""
        self._send(method, params)
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self.read()
        return json.loads(answer)["result"]

    def prompt(self, session: str, count: int, size: int) -> None:
        """Let the agent stream updates, and wait for them and the response that follows."""
        text = {"type": "text", "text": f"{count} {size}"}
        self._send("session/prompt", {"sessionId": session, "prompt": [text]})
        missing = count + 1
        while missing:
            missing -= self.read().count(b"\n")

    def initialize(self) -> None:
        self.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})

    def open_session(self) -> str:
        return str(self.request("session/new", {"cwd": "/tmp", "mcpServers": []})["sessionId"])

    def end(self) -> int:
        """Wait for the end of the process, and return its peak memory in bytes."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    def _send(self, method: str, params: Any) -> None:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params}
        self.ids += 1
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def read(self) -> bytes:
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), CHUNK)
        if not data:
            raise SystemExit("the agent ended before it answered")
        if b'"error":' in data[-1000:]:
            raise SystemExit(f"the agent answered with an error: {data[-1000:]!r}")
        return data


def updates(task: dict[str, Any], command: list[str]) -> dict[str, float]:
    agent = Agent(command)
    agent.initialize()
    session = agent.open_session()
    agent.prompt(session, task["warm"], 40)
    started = time.perf_counter()
    agent.prompt(session, task["count"], task["size"])
    return {"seconds": time.perf_counter() - started, "peak": agent.end()}


def start(task: dict[str, Any], command: list[str]) -> dict[str, float]:
    started = time.perf_counter()
    agent = Agent(command)
    if task["until"] == "line":
        agent.read()
    else:
        agent.initialize()
    if task["until"] == "prompt":
        agent.prompt(agent.open_session(), 1, 40)
    return {"seconds": time.perf_counter() - started, "peak": agent.end()}


def main(task: dict[str, Any], command: list[str]) -> None:
    print(json.dumps({"updates": updates, "start": start}[task["do"]](task, command)))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
