"""An agent that a prompt can kill. It keeps its sessions in files of its working folder.

`python -S -m <this module> [load] [resume]` advertises loading, resuming or both. Files of the folder make it fail:

* `broken`: it exits at `initialize`;
* `busy`: it loads and resumes no session;
* `dies-while-loading`: it exits during its next load, which removes the file;
* `stuck`: it never answers the load of the session that the file names;
* a session whose own file was removed can't be loaded.

It writes the requests that open sessions into `opened`, a line each.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.support.kit.acting_agent import answer, ask, decide, end, say, send, waiting

COMMAND = (sys.executable, "-S", "-m", "tests.support.kit.mortal_agent")


def receive(message: Any) -> None:
    match message:
        case {"method": "initialize", "id": number}:
            initialize(number)
        case {"method": "session/new", "id": number}:
            note_opening(message)
            name = f"{os.getpid()}-{number}"
            Path(name).touch()
            answer(number, sessionId=name)
        case {"method": "session/load" | "session/resume", "id": number, "params": {"sessionId": session}}:
            note_opening(message)
            if not Path(session).exists():
                send(id=number, error={"code": -32002, "message": "There is no such session"})
            elif Path("busy").exists():
                send(id=number, error={"code": -32603, "message": "The MCP server has not answered yet"})
            elif message["method"] == "session/resume" or load(session):
                answer(number)
        case {"method": "session/prompt", "id": number, "params": {"sessionId": session, "prompt": [block]}}:
            waiting[session] = number
            act(session, block["text"])
        case {"method": "session/cancel", "params": {"sessionId": session}}:
            end(session, "cancelled")
        case {"id": number, "result": {"outcome": outcome}}:
            decide(number, outcome)


def initialize(number: int) -> None:
    if Path("broken").exists():
        os._exit(4)
    resume: dict[str, Any] = {"resume": {}} if "resume" in sys.argv else {}
    can = {"loadSession": "load" in sys.argv, "sessionCapabilities": {**resume, "additionalDirectories": {}}}
    answer(number, protocolVersion=1, agentCapabilities=can)


def note_opening(message: Any) -> None:
    with Path("opened").open("a") as file:
        file.write(f"{json.dumps(message)}\n")


def read_openings(folder: Path) -> list[Any]:
    """Return the requests that opened sessions of the agents in a folder."""
    return [json.loads(line) for line in (folder / "opened").read_text().splitlines()]


def load(session: str) -> bool:
    """Send the history of a session, and return whether its load is to be answered."""
    for prompt in Path(session).read_text().splitlines():
        say(session, prompt, "user_message_chunk")
    if Path("dies-while-loading").exists():
        Path("dies-while-loading").unlink()
        os._exit(5)
    return not (Path("stuck").exists() and Path("stuck").read_text() == session)


def act(session: str, prompt: str) -> None:
    with Path(session).open("a") as file:
        file.write(f"{prompt}\n")
    if prompt == "die":
        os._exit(3)
    if prompt == "ask":
        ask(session)
        return
    count = len(Path(session).read_text().splitlines())
    say(session, f"prompt {count} of process {os.getpid()}")
    if prompt != "hang":
        end(session)


if __name__ == "__main__":
    for line in sys.stdin:
        receive(json.loads(line))
