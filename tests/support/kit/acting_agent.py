"""An agent that does what a prompt says: `python -S -m <this module> [<file for its end>]`.

Like `raw_agents`, it uses neither our package nor asyncio, so that it starts in a tenth of the time.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

COMMAND = (sys.executable, "-S", "-m", "tests.support.kit.acting_agent")
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")
CALL = {"toolCallId": "1", "title": "Delete everything", "kind": "delete"}
# The prompts that have no answer yet, by session. The number of a question is that of its prompt.
waiting: dict[str, int] = {}


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answer(number: int, **result: Any) -> None:
    send(id=number, result=result)


def show(session: str, kind: str, /, **update: Any) -> None:
    send(method="session/update", params={"sessionId": session, "update": {"sessionUpdate": kind, **update}})


def say(session: str, text: str, kind: str = "agent_message_chunk") -> None:
    show(session, kind, content={"type": "text", "text": text})


def end(session: str, reason: str = "end_turn") -> None:
    if (number := waiting.pop(session, None)) is not None:
        answer(number, stopReason=reason)


def ask(session: str) -> None:
    say(session, "May I? ")
    show(session, "tool_call", **CALL)
    options = [{"optionId": kind, "name": kind, "kind": kind} for kind in KINDS]
    params = {"sessionId": session, "toolCall": CALL, "options": options}
    send(id=waiting[session], method="session/request_permission", params=params)


def decide(number: int, outcome: Any) -> None:
    for session in [session for session, prompt in waiting.items() if prompt == number]:
        if outcome["outcome"] == "cancelled":
            end(session, "cancelled")
        else:
            is_allowed = outcome["optionId"].startswith("allow")
            show(session, "tool_call_update", toolCallId="1", status="completed" if is_allowed else "failed")
            say(session, "yes" if is_allowed else "no")
            end(session)


def act(session: str, prompt: str) -> None:
    match prompt:
        case "ask":
            ask(session)
        case "wait":
            say(session, "waiting")
        case "exit":
            os._exit(3)
        case _:
            say(session, prompt)
            end(session)


def note(word: str) -> None:
    if len(sys.argv) > 1:
        with open(sys.argv[1], "a") as file:
            file.write(f"{word}\n")


def receive(message: Any) -> None:
    match message:
        case {"method": "initialize", "id": number}:
            answer(number, protocolVersion=1)
        case {"method": "session/new", "id": number}:
            answer(number, sessionId=f"session {number}")
        case {"method": "session/prompt", "id": number, "params": {"sessionId": session, "prompt": blocks}}:
            waiting[session] = number
            act(session, "\n".join(block["text"] for block in blocks))
        case {"method": "session/cancel", "params": {"sessionId": session}}:
            note("cancelled")
            end(session, "cancelled")
        case {"id": number, "result": {"outcome": outcome}}:
            decide(number, outcome)


if __name__ == "__main__":
    for line in sys.stdin:
        receive(json.loads(line))
    note("ended")
