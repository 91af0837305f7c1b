"""Hostile agents, written with the standard library only: `python hostile_agent.py <behaviour>`.

A behaviour is a function that is called with the method and id of each request. It returns True if it has handled the
request, and False to have it answered normally.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

Behaviour = Callable[[str, Any], bool]
BEHAVIOURS: dict[str, Behaviour] = {}

RESULTS: dict[str, Any] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": {"sessionId": "s1"},
    "session/prompt": {"stopReason": "end_turn"},
}
SLEEPER = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"


def behaviour(function: Behaviour) -> Behaviour:
    BEHAVIOURS[function.__name__] = function
    return function


def put(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def say(**message: Any) -> None:
    put(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def update(text: str, session: str = "s1") -> bytes:
    content = {"type": "text", "text": text}
    params = {"sessionId": session, "update": {"sessionUpdate": "agent_message_chunk", "content": content}}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode() + b"\n"


def answer(method: str, id: Any) -> None:
    say(id=id, result=RESULTS[method])


def sleeping_child(*, own_session: bool = False, **streams: Any) -> None:
    """Start a child that ignores SIGTERM, and wait until it does."""
    ready, theirs = os.pipe()
    code = SLEEPER.replace("print(flush=True)", f"__import__('os').write({theirs}, b'x')")
    command = [sys.executable, "-S", "-c", code]
    subprocess.Popen(command, pass_fds=[theirs], start_new_session=own_session, **streams)
    os.close(theirs)
    os.read(ready, 1)
    os.close(ready)


@behaviour
def polite(method: str, id: Any) -> bool:
    return False


@behaviour
def dies(method: str, id: Any) -> bool:
    if method == "session/prompt":
        put(update("half")[:-30])
        os._exit(7)
    return False


@behaviour
def leaves_a_child_in_another_session(method: str, id: Any) -> bool:
    if method == "session/prompt":
        sleeping_child(own_session=True)
    return False


@behaviour
def leaves_children(method: str, id: Any) -> bool:
    if method == "session/prompt":
        for _ in range(5):
            sleeping_child()
    return False


@behaviour
def immortal(method: str, id: Any) -> bool:
    """Ignores EOF and every signal that can be ignored, and keeps writing."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    if method == "session/prompt":
        answer(method, id)
        while True:
            try:
                put(update("still here") * 100)
            except OSError:
                signal.pause()
    return False


@behaviour
def stopped(method: str, id: Any) -> bool:
    """Stops itself, so that it doesn't even receive SIGTERM."""
    if method == "session/prompt":
        answer(method, id)
        os.kill(os.getpid(), signal.SIGSTOP)
        return True
    return False


@behaviour
def closes_stdin(method: str, id: Any) -> bool:
    if method == "session/new":
        os.close(0)
        answer(method, id)
        while True:
            signal.pause()
    return False


@behaviour
def closes_stdout(method: str, id: Any) -> bool:
    if method == "session/prompt":
        os.write(2, b"stdout is closed\n")
        os.close(1)
        while True:
            signal.pause()
    return False


def main() -> None:
    behave = BEHAVIOURS[sys.argv[1]]
    for line in iter(sys.stdin.buffer.readline, b""):
        message = json.loads(line)
        if "method" in message and "id" in message and not behave(message["method"], message["id"]):
            answer(message["method"], message["id"])
    if sys.argv[1] == "immortal":
        while True:
            signal.pause()


if __name__ == "__main__":
    main()
