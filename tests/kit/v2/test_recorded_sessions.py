"""Recorded agents of version 1 behind `as_v2`: the state of version 2 shows what the state of version 1 shows."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from acp_bindings import v1, v2_draft as v2
from acp_bindings.v2_draft.connecting import AGENT_SIDE
from acp_kit.client import Message as MessageV1, SessionState as SessionStateV1
from acp_kit.v2 import Message, SessionState
from acp_kit.versions import as_v2
from acp_runtime import Options
from tests.support.kit.behind_v2 import INFO, PROMPT, AgentV1, turn
from tests.support.kit.session_updates import dump, recorded_sessions
from tests.support.kit.session_updates_v2 import parse
from tests.support.runtime.peer import LINKS, serving


class Player(AgentV1):
    """An agent that sends recorded updates in its turn."""

    updates: list[Any] = []  # noqa: RUF012 - set by the test

    async def work(self, session: str) -> None:
        await self.send(session, *self.updates)


async def state_behind_as_v2(updates: list[Any]) -> SessionState:
    """Return the state of version 2 after a turn in which an agent sends these updates."""
    player = type("Player", (Player,), {"updates": updates})
    # Recorded agents send relative paths.
    open = partial(v1.connect_in_process, player, options=Options(guards="off"))
    state = SessionState()
    async with serving(LINKS["memory"], as_v2(open=open), side=AGENT_SIDE, ready=False) as peer:
        await peer.call("initialize", {"protocolVersion": 2, "info": INFO, "capabilities": {}})
        await peer.call("session/new", {"cwd": "/work"})
        for update in await turn(peer):
            state.apply(parse(update))
    return state


async def test_the_state_of_version_2_shows_what_that_of_version_1_shows() -> None:
    for name, updates in recorded_sessions():
        old = SessionStateV1()
        for block in PROMPT:
            old.apply(v1.SessionUpdateUserMessageChunk(content=v1.ContentBlockText.model_validate(block)))
        old.end_message()
        for update in updates:
            old.apply(update)
        new = await state_behind_as_v2(updates)
        assert [_entry(entry) for entry in new.timeline] == [_entry(entry) for entry in old.timeline], name
        for entry, older in zip(new.timeline, old.timeline, strict=True):
            if isinstance(entry, v2.ToolCallUpdate) and isinstance(older, v1.ToolCall):
                assert re.fullmatch(rf"{re.escape(older.tool_call_id)}(-[0-9]+)?", entry.tool_call_id), name
                assert {*(older.meta or {})} <= {*(entry.meta or {})}, name  # keys of `_meta` are patched in version 2
        plans = [item for plan in new.plans.values() for item in dump(plan)["entries"]]
        assert plans == [dump(item) for item in old.plan], name
        commands = [(dump(command)["name"], dump(command)["description"]) for command in new.available_commands]
        # In version 2, a command's name has no white space.
        one_word = [command for command in old.available_commands if not re.search(r"\s", command.name)]
        assert commands == [(command.name, command.description) for command in one_word], name
        assert [dump(option)["configId"] for option in new.config_options] == [
            option.id for option in old.config_options
        ]
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
    """Return fields without some, without null, and without what a tool call begins with."""
    begun = {"kind": "other", "status": "pending", "locations": []}
    given = {name: value for name, value in fields.items() if name not in names and value is not None}
    return {name: value for name, value in given.items() if begun.get(name, name) != value}
