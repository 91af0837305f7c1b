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
# Few enough to fit into a pipe.
LAST_UPDATES = 300
SLEEPER = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"


def behaviour(function: Behaviour) -> Behaviour:
    BEHAVIOURS[function.__name__] = function
    return function


def put(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def say(**message: Any) -> None:
    put(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def complain(text: bytes) -> None:
    while text:
        text = text[os.write(2, text) :]


def update(text: str, session: str = "s1") -> bytes:
    content = {"type": "text", "text": text}
    params = {"sessionId": session, "update": {"sessionUpdate": "agent_message_chunk", "content": content}}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode() + b"\n"


def answer(method: str, id: Any) -> None:
    if method.startswith("_"):
        say(id=id, result=method)
    else:
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
def stderr_flood(method: str, id: Any) -> bool:
    """Writes 50 MB to stderr, some of it before the first response, in one line and in many."""
    for _ in range(25):
        complain(b"\xff\x00x" * 1_000_00 if method == "initialize" else b"noise\n" * 100_000)
    if method != "session/prompt":
        return False
    for _ in range(45):
        complain(b"y" * 1_000_000)
    complain(b"\nthe last words\n")
    return False


@behaviour
def chatty(method: str, id: Any) -> bool:
    """Writes plain text before, between and after messages, with and without newlines."""
    put(b"Loading model...\n\x1b[32mready\x1b[0m\n\n   \n")
    if method == "session/prompt":
        put(b"thinking " + b"." * 5000 + b"\n")
        put(update("one"))
        put(b'warning: {not json}\n[1,2]\n42\n"text"\nnull\n{}\n')
        put(update("two"))
    answer(method, id)
    put(b"> \n")
    return True


@behaviour
def dies(method: str, id: Any) -> bool:
    if method == "session/prompt":
        put(update("half")[:-30])
        complain(b"panic: \xff\xfe at line 7\n")
        os._exit(7)
    return False


@behaviour
def dies_by_signal(method: str, id: Any) -> bool:
    if method == "session/prompt":
        complain(b"about to crash\n")
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGSEGV)
    return False


@behaviour
def dies_and_leaves_a_child_with_its_pipes(method: str, id: Any) -> bool:
    if method == "session/prompt":
        sleeping_child()
        for number in range(LAST_UPDATES):
            put(update(str(number)))
        complain(b"gone, but not all of it\n")
        os._exit(5)
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
def deaf(method: str, id: Any) -> bool:
    """Stops reading, but keeps its stdin open."""
    if method == "session/new":
        answer(method, id)
        while True:
            signal.pause()
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
        complain(b"stdout is closed\n")
        os.close(1)
        while True:
            signal.pause()
    return False


@behaviour
def endless_line(method: str, id: Any) -> bool:
    if method == "session/prompt":
        put(update("before"))
        while True:
            put(b"x" * 100_000)
    return False


GARBAGE = (
    b"\xff\xfe\xfd",
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"\xc3\x28"}}',
    b'{"jsonrpc":"2.0","id":0,"result":{"sessionId":"\x00"}}',
    b"[" * 200_000,
    b'{"jsonrpc":"2.0","id":0,"result":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
    b'{"jsonrpc":"2.0","id":' + b"9" * 6000 + b',"method":"_x","params":' + b"7" * 6000 + b"}",
    b'{"jsonrpc":"2.0","id":1,"method":"_x","params":NaN}',
    b'{"jsonrpc":"2.0","id":1} {"jsonrpc":"2.0","id":2}',
    b"\x00" * 1000,
    bytes(range(256)).replace(b"\n", b""),
)


@behaviour
def garbage(method: str, id: Any) -> bool:
    if method == "session/prompt":
        for each in GARBAGE:
            put(each + b"\n" + update("between"))
    return False


@behaviour
def unexpected_responses(method: str, id: Any) -> bool:
    if method != "session/prompt":
        return False
    for other in (10_000, -1, "0", str(id), None, 1e300, 2**70, True, [id], {"id": id}):
        say(id=other, result={"stopReason": "refusal"})
        say(id=other, error={"code": -32600, "message": "?"})
    for _ in range(3):
        answer(method, id)
    say(id=id, error={"code": -32603, "message": "changed my mind"})
    return True


INVALID_RESPONSES: dict[str, Any] = {
    "both": {"result": {"stopReason": "end_turn"}, "error": {"code": 1, "message": "and an error"}},
    "neither": {},
    "error that is a text": {"error": "no"},
    "error that is null": {"error": None},
    "error without a code": {"error": {"message": "no"}},
    "error with a code that is a text": {"error": {"code": "1", "message": "no"}},
    "error with a fraction": {"error": {"code": 1.5, "message": "no"}},
    "error without a message": {"error": {"code": 1}},
    "result that is null": {"result": None},
    "result that is a list": {"result": [{"stopReason": "end_turn"}]},
    "result that is a number": {"result": 7},
    "result without its fields": {"result": {}},
    "result with wrong fields": {"result": {"stopReason": 5}},
    "another version of JSON-RPC": {"jsonrpc": "1.0", "result": {"stopReason": "end_turn"}},
}


@behaviour
def invalid_responses(method: str, id: Any) -> bool:
    """Answers each prompt with the next of `INVALID_RESPONSES`, then normally."""
    if method != "session/prompt":
        return False
    response = next(_invalid_responses, None)
    if response is None:
        return False
    say(id=id, **response)
    return True


_invalid_responses = iter(INVALID_RESPONSES.values())


@behaviour
def floods(method: str, id: Any) -> bool:
    """Sends many notifications: unknown, invalid and valid ones."""
    if method == "session/prompt":
        for number in range(60):
            put(b'{"jsonrpc":"2.0","method":"craft/unknown","params":{"secret":"hunter2"}}\n' * 50)
            put(b'{"jsonrpc":"2.0","method":"session/update","params":{"secret":"hunter2"}}\n' * 50)
            put(b'{"jsonrpc":"2.0","method":"_ext\\u001b[31m","params":{}}\n' * 50)
            put(update(str(number)))
    return False


@behaviour
def requests_without_reading(method: str, id: Any) -> bool:
    """Sends endless requests and reads no response."""
    if method != "session/prompt":
        return False
    number = 0
    while True:
        params = {"sessionId": "s1", "path": "/" + "x" * 10_000}
        say(id=number, method="fs/read_text_file", params=params)
        number += 1


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
