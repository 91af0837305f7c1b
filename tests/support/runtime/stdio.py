"""An agent on stdin and stdout, with raw bytes as its client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import IO, Any

from tests.support.paths import ROOT
from tests.support.runtime.peer import INITIALIZE, line

OPENING = line({"id": 0, "method": "initialize", "params": INITIALIZE})
# Text printed before serving has to stay in Python's buffer, otherwise it is on the wire.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def start(name: str, **streams: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.runtime.agents", name]
    return subprocess.Popen(command, cwd=ROOT, env=BUFFERED, **streams)


def piped(name: str) -> subprocess.Popen[bytes]:
    return start(name, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def say(process: subprocess.Popen[bytes], message: Any) -> None:
    assert process.stdin is not None
    process.stdin.write(message if isinstance(message, bytes) else line(message))
    process.stdin.flush()


def hear(stream: IO[bytes] | None) -> Any:
    assert stream is not None
    return json.loads(stream.readline())


def close(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    out, err = process.communicate(timeout=100)
    return out, err
