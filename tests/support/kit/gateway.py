"""Processes that pass on what clients of version 2 send to agents of version 1."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tests.support.kit.behind_v2 import INFO
from tests.support.marked_processes import marked

INITIALIZE = {"protocolVersion": 2, "info": INFO, "capabilities": {}}


class Gateway:
    """A gateway in a process of its own.

    Args:
        marker: the variable in its environment that marks its processes.
        arguments: the arguments of Python.
        stderr: where its stderr goes, as for `subprocess.Popen`.
    """

    def __init__(self, marker: str, *arguments: str, stderr: int | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={marker: "1"},
        )

    def send(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def call(self, method: str, params: Any) -> Any:
        self.send({"id": 1, "method": method, "params": params})
        while (message := self.receive()).get("id") != 1:
            pass
        return message

    def end(self, by: str) -> None:
        """Close its stdin ("EOF"), or send a signal."""
        if by == "EOF":
            assert self.process.stdin is not None
            self.process.stdin.close()
        else:
            self.process.send_signal(getattr(signal, by))


def until_idle(started: Gateway) -> Any:
    while (update := started.receive()["params"]["update"]).get("state") != "idle":
        pass
    return update


@contextmanager
def bridge(*agent: str, stderr: int | None = None) -> Generator[tuple[Gateway, str]]:
    """Start `acp-bindings bridge` with an agent. Yield it, and the marker of its processes."""
    with marked() as marker:
        started = Gateway(marker, "-m", "acp_kit", "bridge", "--", *agent, stderr=stderr)
        with started.process:
            yield started, marker
            started.process.kill()
