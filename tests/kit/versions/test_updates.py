"""Updates of an agent of version 1 as a client of version 2 sees them."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings, strategies as st

from acp_bindings import v1, v2_draft as v2
from acp_kit.client import SessionState
from acp_kit.versions.updates import Updates
from tests.support.kit.behind_v2 import AgentV1, session_of, turn
from tests.support.kit.session_fold_v2 import fold
from tests.support.kit.session_updates import updates_of
from tests.support.runtime.peer import chunk


def translated(*updates: Any) -> list[Any]:
    """Return updates of one session in version 2."""
    session = Updates("/work")
    return [session.to_v2(update.model_dump()) for update in updates]


def call(id: str = "1", **fields: Any) -> v1.SessionUpdateToolCall:
    return v1.SessionUpdateToolCall(tool_call_id=id, title="Read", **fields)


def change(id: str = "1", **fields: Any) -> v1.SessionUpdateToolCallUpdate:
    return v1.SessionUpdateToolCallUpdate(tool_call_id=id, **fields)


def text(kind: Any, text: str, **fields: Any) -> Any:
    return kind(content=v1.ContentBlockText(text=text), **fields)


def test_chunks_without_an_id_are_one_message_until_something_else_comes() -> None:
    thought = text(v1.SessionUpdateAgentThoughtChunk, "hm")
    updates = translated(chunk("a"), chunk("b"), thought, chunk("c"), call(), chunk("d"))
    ids = [update.get("messageId") for update in updates]
    assert ids[0] == ids[1]
    assert len({*ids}) == 5


def test_an_id_of_the_agent_stays_unless_another_message_has_it() -> None:
    message = text(v1.SessionUpdateAgentMessageChunk, "a", message_id="m")
    thought = text(v1.SessionUpdateAgentThoughtChunk, "b", message_id="m")
    ids = [update.get("messageId") for update in translated(message, message, thought, message, call(), message)]
    assert ids == ["m", "m", "m-2", "m-3", None, "m-4"]


def test_a_tool_call_begins_with_an_update() -> None:
    first, second = translated(call(kind="read", status="pending", meta={"a": 1}), change(status="completed"))
    assert first == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "1",
        "title": "Read",
        "kind": "read",
        "status": "pending",
        "_meta": {"a": 1},
    }
    assert second == {"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"}


def test_null_in_an_update_changes_nothing() -> None:
    _, second = translated(call(), change(status=None, content=None, title="Reads"))
    assert second == {"sessionUpdate": "tool_call_update", "toolCallId": "1", "title": "Reads"}


def test_an_empty_title_changes_nothing() -> None:
    assert [update.get("title") for update in translated(call(), change(title=""))] == ["Read", None]


def test_a_second_start_of_a_running_call_changes_its_fields() -> None:
    _, second = translated(call(kind="read", status="pending"), call(status="in_progress"))
    assert second == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "1",
        "title": "Read",
        "status": "in_progress",
    }


def test_an_id_that_is_used_again_after_its_call_has_ended_is_another_call() -> None:
    updates = translated(call(), change(status="failed"), call(), change(status="completed"), call(), change())
    assert [update["toolCallId"] for update in updates] == ["1", "1", "1-2", "1-2", "1-3", "1-3"]


def test_a_start_in_a_later_turn_begins_another_call_but_an_update_does_not() -> None:
    session = Updates("/work")
    session.to_v2(call().model_dump())
    session.begin_turn()
    ids = [session.to_v2(update.model_dump()) for update in (change(), call(), change())]
    assert [update and update["toolCallId"] for update in ids] == ["1", "1-2", "1-2"]


def test_an_id_that_looks_like_one_of_ours_is_no_other_call() -> None:
    updates = translated(call(status="failed"), call(), call("1-2"))
    assert [update["toolCallId"] for update in updates] == ["1", "1-2", "1-2-2"]


def test_relative_paths_are_resolved_and_line_0_is_dropped() -> None:
    locations = [v1.ToolCallLocation(path="a/../b.py", line=0), v1.ToolCallLocation(path="C:\\x", line=3)]
    diff = v1.ToolCallContentDiff(path="c.py", new_text="x\n")
    (update,) = translated(call(locations=locations, content=[diff]))
    assert update["locations"] == [{"path": "/work/b.py"}, {"path": "C:\\x", "line": 3}]
    assert update["content"][0]["changes"] == [{"operation": "add", "path": "/work/c.py", "fileType": "text"}]


def test_a_change_of_a_call_does_not_end_a_message() -> None:
    updates = translated(call(), chunk("a"), change(status="completed"), chunk("b"), change("2"), chunk("c"))
    ids = [update["messageId"] for update in updates if "messageId" in update]
    assert ids[0] == ids[1] != ids[2]


def test_a_plan_is_one_with_an_id() -> None:
    entry = v1.PlanEntry(content="Look", priority="high", status="pending")
    (update,) = translated(v1.SessionUpdatePlan(entries=[entry]))
    assert update == {
        "sessionUpdate": "plan_update",
        "plan": {"type": "items", "planId": "plan", "entries": [entry.model_dump()]},
    }


def test_what_is_the_same_in_both_versions_stays() -> None:
    updates = [
        v1.SessionUpdateUsageUpdate(used=1, size=2),
        v1.SessionUpdateSessionInfoUpdate(title=None),
        v1.SessionUpdateNotice(severity="info", title="Hello"),
        v1.SessionUpdateCompactionUpdate(compaction_id="1", status="in_progress"),
    ]
    assert translated(*updates) == [update.model_dump() for update in updates]


async def test_all_of_them_reach_the_client_with_their_meta() -> None:
    class Everything(AgentV1):
        async def work(self, session: str) -> None:
            await self.client.session_update(session_id=session, update=chunk("a"), meta={"trace": 1})
            await self.send(
                session,
                v1.SessionUpdateNotice(severity="info", title="Hello"),
                v1.SessionUpdateCompactionUpdate(compaction_id="1", status="in_progress"),
                v1.SessionUpdateUsageUpdate(used=1, size=2),
            )

    async with session_of(Everything) as peer:
        kinds = [update["sessionUpdate"] for update in await turn(peer)]
        assert kinds[2:-1] == ["agent_message_chunk", "notice", "compaction_update", "usage_update"]


@settings(deadline=None)  # the first example imports models
@given(st.lists(updates_of("v1"), max_size=12))
def test_any_sequence_shows_the_same_as_in_version_1(updates: list[Any]) -> None:
    session, old = Updates("/work"), SessionState()
    sent: list[Any] = []
    for update in updates:
        parsed = v1.SessionNotification.model_validate({"sessionId": "1", "update": update})
        old.apply(parsed.update)
        translated = session.to_v2(parsed.model_dump()["update"])
        if translated is not None:
            notification = v2.UpdateSessionNotification.model_validate({"sessionId": "1", "update": translated})
            sent.append(notification.model_dump()["update"])
    expected, new = old.snapshot(), fold(sent)
    texts = [
        (message["role"], "".join(block.get("text", "") for block in message["content"]))
        for message in new["messages"].values()
    ]
    assert texts == [(message.role, message.text) for message in expected.messages]
    calls = [entry for entry in expected.timeline if isinstance(entry, v1.ToolCall)]
    assert [call["status"] for call in new["calls"].values()] == [call.status or "pending" for call in calls]
    assert [call.get("title", "") for call in new["calls"].values()] == [call.title for call in calls]
    plans = [entry for plan in new["plans"].values() for entry in plan["entries"]]
    assert plans == [entry.model_dump() for entry in expected.plan]
