"""Agents for tests of clients: `python -S raw_agents.py <name>`. They use neither our package nor asyncio.

They answer `initialize`, `session/new` and `session/prompt`, and requests whose method begins with "_".
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

ANSWERS: dict[str, Any] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": {"sessionId": "s1"},
    "session/prompt": {"stopReason": "end_turn"},
}


def say(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def echo(method: str, params: Any) -> Any:
    """Answer a request; a prompt with one update before."""
    match method:
        case "_env":
            return dict(os.environ)
        case "_pid":
            return os.getpid()
        case "_large":
            return "x" * int(params)
        case "session/prompt":
            update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hello"}}
            say(method="session/update", params={"sessionId": params["sessionId"], "update": update})
    return ANSWERS[method]


def dying(method: str, params: Any) -> Any:
    """Exit during a prompt."""
    if method == "session/prompt":
        os.write(2, b"\x1b[31mlast words\n")
        os._exit(3)
    return echo(method, params)


def noisy(method: str, params: Any) -> Any:
    """Write 2 MB to stderr in a prompt."""
    if method == "session/prompt":
        for _ in range(2):
            os.write(2, b"x" * 1_000_000)
    return echo(method, params)


def parent(method: str, params: Any) -> Any:
    """Start a process that ignores SIGTERM, keeps the pipes open and outlives the agent, in its group or elsewhere."""
    if method != "_child":
        return echo(method, params)
    ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
    command = [sys.executable, "-S", "-c", ignore]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=params == "elsewhere")
    assert child.stdout is not None
    child.stdout.readline()
    return child.pid


def closing(method: str, params: Any) -> Any:
    """Close a descriptor, and run on."""
    if method != "_close":
        return echo(method, params)
    os.write(2, b"%d is closed\n" % params)
    os.close(params)
    while True:
        signal.pause()


def deaf(method: str, params: Any) -> Any:
    """Ignore EOF and SIGTERM, after answering the first request with an error."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise ValueError("no")


AGENTS = {agent.__name__: agent for agent in (echo, dying, noisy, parent, closing, deaf)}


def main() -> None:
    agent = AGENTS[sys.argv[1]]
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        try:
            say(id=request["id"], result=agent(request["method"], request.get("params")))
        except ValueError as error:
            say(id=request["id"], error={"code": -32603, "message": str(error)})
        while agent is deaf:
            signal.pause()


if __name__ == "__main__":
    main()
