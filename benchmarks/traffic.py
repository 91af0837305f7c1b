"""The updates of a coding agent at work: every kind that version 1 has, with assumed frequencies."""

from __future__ import annotations

import random
from collections.abc import Callable

from benchmarks.lines import Update, agent_message, chunk, line_of, words

_PATH = "/home/ada/project/src/server/connection.py"


def mixed(count: int) -> bytes:
    """Return this many lines, the same in every run, with every kind at least once if `count` allows."""
    seeded = random.Random(5)
    kinds = list(_KINDS)
    further = seeded.choices(kinds, [_KINDS[each] for each in kinds], k=max(0, count - len(kinds)))
    return b"".join(line_of(each(seeded)) for each in [*kinds, *further][:count])


def _code(seeded: random.Random, lines: int) -> str:
    return "".join(f"    {words(seeded, 10)}  # line {number}\n" for number in range(seeded.randint(1, lines)))


def _agent_thought(seeded: random.Random) -> Update:
    return chunk("agent_thought_chunk", words(seeded, 25))


def _user_message(seeded: random.Random) -> Update:
    return {**chunk("user_message_chunk", words(seeded, 40)), "messageId": f"message-{seeded.randint(1, 999)}"}


def _tool_call(seeded: random.Random) -> Update:
    return {
        "sessionUpdate": "tool_call",
        "toolCallId": f"call-{seeded.randint(1, 999)}",
        "title": f"Edit {_PATH}",
        "kind": "edit",
        "status": "pending",
        "locations": [{"path": _PATH, "line": seeded.randint(1, 2000)}],
        "rawInput": {"path": _PATH, "edits": [{"old": words(seeded, 10), "new": words(seeded, 10)}]},
    }


def _diff(seeded: random.Random) -> Update:
    diff = {"type": "diff", "path": _PATH, "oldText": _code(seeded, 40), "newText": _code(seeded, 40)}
    return _tool_call_update(seeded, diff)


def _output(seeded: random.Random) -> Update:
    output = {"type": "content", "content": {"type": "text", "text": _code(seeded, 20)}}
    return {**_tool_call_update(seeded, output), "rawOutput": {"exitCode": 0, "stdout": _code(seeded, 20)}}


def _terminal(seeded: random.Random) -> Update:
    return _tool_call_update(seeded, {"type": "terminal", "terminalId": f"terminal-{seeded.randint(1, 99)}"})


def _tool_call_update(seeded: random.Random, content: Update) -> Update:
    status = seeded.choice(("in_progress", "completed", "failed"))
    call = f"call-{seeded.randint(1, 999)}"
    return {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status, "content": [content]}


def _plan(seeded: random.Random) -> Update:
    entries = [
        {
            "content": words(seeded, 10),
            "priority": seeded.choice(("high", "medium", "low")),
            "status": seeded.choice(("pending", "in_progress", "completed")),
        }
        for _ in range(seeded.randint(3, 10))
    ]
    return {"sessionUpdate": "plan", "entries": entries}


def _commands(seeded: random.Random) -> Update:
    commands = [
        {"name": f"command-{number}", "description": words(seeded, 10), "input": {"hint": words(seeded, 5)}}
        for number in range(10)
    ]
    return {"sessionUpdate": "available_commands_update", "availableCommands": commands}


def _mode(seeded: random.Random) -> Update:
    return {"sessionUpdate": "current_mode_update", "currentModeId": seeded.choice(("ask", "code", "architect"))}


def _config_options(seeded: random.Random) -> Update:
    models = [{"value": f"model-{number}", "name": f"Model {number}"} for number in range(6)]
    select = {"id": "model", "name": "Model", "category": "model", "type": "select"}
    options = [
        {**select, "currentValue": f"model-{seeded.randrange(6)}", "options": models},
        {"id": "web", "name": "Search the web", "type": "boolean", "currentValue": seeded.random() < 0.5},
    ]
    return {"sessionUpdate": "config_option_update", "configOptions": options}


def _session_info(seeded: random.Random) -> Update:
    return {"sessionUpdate": "session_info_update", "title": words(seeded, 8), "updatedAt": "2026-11-02T10:00:00Z"}


def _usage(seeded: random.Random) -> Update:
    cost = {"amount": round(seeded.random(), 4), "currency": "USD"}
    return {"sessionUpdate": "usage_update", "used": seeded.randint(1, 200_000), "size": 200_000, "cost": cost}


def _notice(seeded: random.Random) -> Update:
    return {"sessionUpdate": "notice", "severity": "warning", "title": words(seeded, 8), "description": None}


def _compaction(seeded: random.Random) -> Update:
    return {"sessionUpdate": "compaction_update", "compactionId": "compaction-1", "status": "in_progress"}


def _compaction_summary(seeded: random.Random) -> Update:
    return {**chunk("compaction_summary_chunk", words(seeded, 30)), "compactionId": "compaction-1"}


# The number of updates of each kind in a thousand.
_KINDS: dict[Callable[[random.Random], Update], int] = {
    agent_message: 380,
    _agent_thought: 150,
    _user_message: 10,
    _tool_call: 90,
    _diff: 60,
    _output: 110,
    _terminal: 40,
    _plan: 40,
    _commands: 5,
    _mode: 5,
    _config_options: 10,
    _session_info: 10,
    _usage: 80,
    _notice: 4,
    _compaction: 2,
    _compaction_summary: 4,
}
