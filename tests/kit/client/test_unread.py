"""Unread updates are kept in order, and adjacent text of one message becomes one chunk."""

from __future__ import annotations

from acp_bindings import v1
from acp_kit.client.unread import Unread


def said(text: str, message_id: str | None = None) -> v1.SessionUpdate:
    return v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=text), message_id=message_id)


async def read(*updates: v1.SessionUpdate) -> list[v1.SessionUpdate]:
    unread = Unread()
    for update in updates:
        unread.put(update)
    unread.close()
    session_updates: list[v1.SessionUpdate] = []
    while (update := await unread.get()) is not None:
        session_updates.append(update)
    return session_updates


async def test_adjacent_text_of_one_message_is_merged() -> None:
    assert await read(said("a"), said("b"), said("c")) == [said("abc")]
    assert await read(said("a", "1"), said("b", "1")) == [said("ab", "1")]
    assert await read(said("\ud83d"), said("\ude00")) == [said("\U0001f600")]


async def test_nothing_else_is_merged() -> None:
    image = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockImage(data="", mime_type="image/png"))
    thought = v1.SessionUpdateAgentThoughtChunk(content=v1.ContentBlockText(text="t"))
    noted = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text="m"), meta={"a": 1})
    plan = v1.SessionUpdatePlan(entries=[])
    updates = [said("a", "1"), said("b", "2"), said("c"), thought, said("d"), image, image, noted, noted, plan, plan]
    assert await read(*updates) == updates


async def test_text_is_merged_only_with_the_update_right_before_it() -> None:
    updates = [said("a"), v1.SessionUpdatePlan(entries=[]), said("b")]
    assert await read(*updates) == updates
