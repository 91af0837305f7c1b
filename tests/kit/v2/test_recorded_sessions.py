"""Recorded agents of version 1 behind `as_v2`: the states of both versions show the same."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1, v2_draft as v2
from acp_kit.client import Message as MessageV1, SessionState as SessionStateV1
from acp_kit.v2 import Message, SessionState
from tests.support.kit.behind_v2 import INITIALIZE, PROMPT, AgentV1, session_of, turn, without_guards
from tests.support.kit.gateway import bridge
from tests.support.kit.session_updates import dump, parse, recorded_sessions

# Sends, in its turns, the updates of the next session in a file.
PLAYER = """
import json, sys
sessions = json.load(open(sys.argv[1], encoding="utf-8"))
def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
created = 0
for line in sys.stdin:
    message = json.loads(line)
    method, params = message["method"], message["params"]
    if method == "initialize":
        result = {"protocolVersion": 1}
    elif method == "session/new":
        result = {"sessionId": str(created)}
        created += 1
    else:
        for update in sessions[int(params["sessionId"])]:
            send({"method": "session/update", "params": {"sessionId": params["sessionId"], "update": update}})
        result = {"stopReason": "end_turn"}
    send({"id": message["id"], "result": result})
"""


class Player(AgentV1):
    """An agent that sends recorded updates in its turn."""

    updates: list[Any] = []  # noqa: RUF012 - set by the test

    async def work(self, session: str) -> None:
        await self.send(session, *self.updates)


async def state_behind_as_v2(updates: list[Any]) -> SessionState:
    """Return the state of version 2 after a turn in which an agent sends these updates."""
    player = type("Player", (Player,), {"updates": updates})
    state = SessionState()
    async with session_of(open=without_guards(player)) as peer:  # recorded agents send relative paths
        for update in await turn(peer):
            state.apply(parse(update, v2))
    return state


async def test_the_states_of_both_versions_show_the_same() -> None:
    for name, updates in recorded_sessions():
        _check(name, updates, await state_behind_as_v2(updates))


@pytest.mark.slow
def test_behind_a_bridge_it_shows_the_same(tmp_path: Path) -> None:
    sessions = [*recorded_sessions()]
    recorded = tmp_path / "updates.json"
    recorded.write_text(json.dumps([[update.model_dump() for update in updates] for _, updates in sessions]), "utf-8")
    with bridge(sys.executable, "-c", PLAYER, str(recorded)) as (started, _):
        started.call("initialize", INITIALIZE)
        for name, updates in sessions:
            session = started.call("session/new", {"cwd": "/work"})["result"]["sessionId"]
            started.send({"id": 2, "method": "session/prompt", "params": {"sessionId": session, "prompt": PROMPT}})
            state = SessionState()
            update: Any = {}
            while update.get("state") != "idle":
                message = started.receive()
                if "id" not in message:
                    update = message["params"]["update"]
                    state.apply(parse(update, v2))
            _check(name, updates, state)


def _check(name: str, updates: list[Any], new: SessionState) -> None:
    """Check that the state of version 2 shows what one of version 1 shows after the same updates."""
    old = SessionStateV1()
    for block in PROMPT:
        old.apply(v1.SessionUpdateUserMessageChunk(content=v1.ContentBlockText.model_validate(block)))
    old.end_message()
    for update in updates:
        old.apply(update)
    assert [_entry(entry) for entry in new.timeline] == [_entry(entry) for entry in old.timeline], name
    for entry, older in zip(new.timeline, old.timeline, strict=True):
        if isinstance(entry, v2.ToolCallUpdate) and isinstance(older, v1.ToolCall):
            assert re.fullmatch(rf"{re.escape(older.tool_call_id)}(-[0-9]+)?", entry.tool_call_id), name
            assert {*(older.meta or {})} <= {*(entry.meta or {})}, name  # keys of `_meta` are patched in version 2
    plans = [item for plan in new.plans.values() for item in dump(plan)["entries"]]
    assert plans == [dump(item) for item in old.plan], name
    commands = [(dump(command)["name"], dump(command)["description"]) for command in new.available_commands]
    # Version 2 allows no white space in the names of commands.
    expected = [command for command in old.available_commands if " " not in command.name]
    assert commands == [(command.name, command.description) for command in expected], name
    options = [dump(option)["configId"] for option in new.config_options]
    assert options == [option.id for option in old.config_options], name
    assert (new.usage and dump(new.usage)) == (old.usage and dump(old.usage)), name
    assert (new.title, new.updated_at) == (old.title, old.updated_at), name
    assert new.is_idle, name


def _entry(entry: Any) -> Any:
    """Return what both versions show of an entry."""
    if isinstance(entry, Message | MessageV1):
        return entry.role, [dump(block) for block in entry.content]
    fields = dump(entry)
    content = [part["type"] if part["type"] == "diff" else part for part in fields.pop("content", None) or ()]
    return fields.get("title"), content, _without(fields, "sessionUpdate", "toolCallId", "_meta", "title")


def _without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return fields without some, without null, and without the values that a tool call begins with."""
    begun = {"kind": "other", "status": "pending", "locations": []}
    given = {name: value for name, value in fields.items() if name not in names and value is not None}
    return {name: value for name, value in given.items() if begun.get(name, name) != value}
