"""What a client of version 2 shows of recorded agents behind `as_v2` is what a client of version 1 shows."""

from __future__ import annotations

from functools import partial
from typing import Any

from acp_bindings import v1
from acp_bindings.v2_draft.connecting import AGENT_SIDE
from acp_kit.client import SessionState
from acp_kit.versions import as_v2
from acp_runtime import Options
from tests.support.kit.behind_v2 import INFO, PROMPT, AgentV1, turn
from tests.support.kit.fold_v2 import Shown
from tests.support.kit.session_updates import recorded_sessions
from tests.support.runtime.peer import LINKS, serving


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
        old = SessionState()
        for update in updates:
            old.apply(update)
        expected = old.snapshot()
        new = await shown(updates)
        assert new.texts()[0] == ("user", PROMPT[0]["text"]), name
        assert new.texts()[1:] == [(message.role, message.text) for message in expected.messages], name
        calls = [entry for entry in expected.timeline if isinstance(entry, v1.ToolCall)]
        assert [call["title"] for call in new.calls.values()] == [call.title for call in calls], name
        assert [call.get("status") for call in new.calls.values()] == [call.status for call in calls], name
        assert [call.get("rawInput") for call in new.calls.values()] == [call.raw_input for call in calls], name
        assert [len(call.get("content") or ()) for call in new.calls.values()] == [
            len(call.content) for call in calls
        ], name
        assert new.plan == [entry.model_dump() for entry in expected.plan], name
        assert [command["name"] for command in new.commands] == [
            command.name for command in expected.available_commands
        ], name
