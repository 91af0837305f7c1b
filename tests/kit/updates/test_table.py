"""States and snapshots of version 1 show what the tables of updates say."""

from __future__ import annotations

from acp_kit.client import SessionState
from acp_kit.updates.table import KEPT_AS, TABLE
from acp_runtime.updates import AddsTo, Changes, Removes, Sets


def test_each_value_that_an_update_sets_can_be_read() -> None:
    effects = TABLE.values()
    names = [name for effect in effects if isinstance(effect, Sets) for name in effect.fields]
    names += [effect.name for effect in effects if isinstance(effect, AddsTo)]
    state = SessionState()
    assert names
    assert [name for name in names if not hasattr(state, name)] == []


def test_each_thing_that_an_update_changes_is_kept_as_an_update() -> None:
    things = [effect.thing for effect in TABLE.values() if isinstance(effect, Changes | Removes)]
    assert {*things} == {*KEPT_AS} == {"tool_call", "compaction"}
