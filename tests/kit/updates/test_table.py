"""The table of updates has a line for each kind of version 1."""

from __future__ import annotations

from typing import Any, get_args

from acp_bindings import v1
from acp_kit.client import SessionState
from acp_kit.updates.table import PERMISSION, TABLE, SetsValues


def test_each_kind_of_update_has_a_line() -> None:
    classes: list[Any] = [getattr(v1, name) for name in dir(v1) if name.startswith("SessionUpdate")]
    fields = [cls.model_fields for cls in classes if hasattr(cls, "model_fields")]
    tags = {get_args(field["session_update"].annotation)[0] for field in fields if "session_update" in field}
    missing, unknown = tags - {*TABLE}, {*TABLE} - {*tags, PERMISSION}
    assert not missing, f"Say in TABLE of acp_kit/_updates.py what these kinds of update do: {missing}"
    assert not unknown, f"Remove these kinds of update, which the schema doesn't have, from TABLE: {unknown}"


def test_each_value_that_an_update_sets_can_be_read() -> None:
    names = [name for effect in TABLE.values() if isinstance(effect, SetsValues) for name in effect.fields]
    state = SessionState()
    assert names
    assert [name for name in names if not hasattr(state, name)] == []
