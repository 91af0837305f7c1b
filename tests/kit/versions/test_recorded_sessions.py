"""What a client of version 2 shows of recorded agents behind `as_v2` is what a client of version 1 shows."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_bindings.v2_draft.connecting import AGENT_SIDE
from acp_kit.client import SessionState
from acp_kit.versions import as_v2
from acp_runtime import Options
from tests.support.kit.behind_v2 import INFO, PROMPT, AgentV1, turn
from tests.support.kit.fold_v2 import Shown
from tests.support.kit.gateway import INITIALIZE, bridge
from tests.support.kit.session_updates import recorded_sessions
from tests.support.runtime.peer import LINKS, serving

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


async def shown(updates: list[Any]) -> Shown:
    """Return what a client of version 2 shows of an agent that sends these updates in a turn."""
    player = type("Player", (Player,), {"updates": updates})
    # Recorded agents send relative paths.
    open = partial(v1.connect_in_process, player, options=Options(guards="off"))
    result = Shown()
    async with serving(LINKS["memory"], as_v2(open=open), side=AGENT_SIDE, ready=False) as peer:
        await peer.call("initialize", {"protocolVersion": 2, "info": INFO, "capabilities": {}})
        await peer.call("session/new", {"cwd": "/work"})
        for update in await turn(peer):
            result.apply(update)
    return result


async def test_messages_calls_plans_and_commands_are_the_same() -> None:
    for name, updates in recorded_sessions():
        check(name, updates, await shown(updates))


@pytest.mark.slow
def test_they_are_the_same_behind_a_bridge(tmp_path: Path) -> None:
    sessions = [*recorded_sessions()]
    recorded = tmp_path / "updates.json"
    recorded.write_text(json.dumps([[update.model_dump() for update in updates] for _, updates in sessions]), "utf-8")
    with bridge(sys.executable, "-c", PLAYER, str(recorded)) as (started, _):
        started.call("initialize", INITIALIZE)
        for name, updates in sessions:
            session = started.call("session/new", {"cwd": "/work"})["result"]["sessionId"]
            started.send({"id": 2, "method": "session/prompt", "params": {"sessionId": session, "prompt": PROMPT}})
            new, state = Shown(), ""
            while state != "idle":
                message = started.receive()
                if "id" not in message:
                    new.apply(message["params"]["update"])
                    state = message["params"]["update"].get("state", state)
            check(name, updates, new)


def check(name: str, updates: list[Any], new: Shown) -> None:
    """Check that a client of version 2 shows what one of version 1 shows."""
    old = SessionState()
    for update in updates:
        old.apply(update)
    expected = old.snapshot()
    assert new.texts()[0] == ("user", PROMPT[0]["text"]), name
    assert new.texts()[1:] == [(message.role, message.text) for message in expected.messages], name
    calls = [entry for entry in expected.timeline if isinstance(entry, v1.ToolCall)]
    assert [call["title"] for call in new.calls.values()] == [call.title for call in calls], name
    assert [call.get("status") for call in new.calls.values()] == [call.status for call in calls], name
    assert [call.get("rawInput") for call in new.calls.values()] == [call.raw_input for call in calls], name
    assert [len(call.get("content") or ()) for call in new.calls.values()] == [len(call.content) for call in calls], (
        name
    )
    assert new.plan == [entry.model_dump() for entry in expected.plan], name
    names = [command.name for command in expected.available_commands if " " not in command.name]
    assert [command["name"] for command in new.commands] == names, name
