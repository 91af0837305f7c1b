"""Assignment to fields of subclasses that aren't frozen."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError, field_validator

from acp_bindings import v1
from acp_runtime import ABSENT


class Editable(v1.ToolCall, frozen=False, validate_assignment=True):
    rank: int = 0

    @field_validator("title")
    @classmethod
    def strip(cls, value: str) -> str:
        return value.strip()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Editable(tool_call_id="1", title="t"),
        lambda: Editable.model_validate_json('{"toolCallId":"1","title":"t"}'),
    ],
)
def test_validated_assignment_validates_as_parsing_does(make: Any) -> None:
    value = make()
    value.title = " u "
    value.kind = "read"
    value.locations = [v1.ToolCallLocation(path="/a"), {"path": "/b"}]
    value.rank = 1
    wire = {
        "toolCallId": "1",
        "title": "u",
        "kind": "read",
        "locations": [{"path": "/a"}, {"path": "/b"}],
        "rank": 1,
    }
    assert value.model_dump() == wire
    for name, wrong in {"title": None, "rank": "x", "tool_call_id": ABSENT}.items():
        with pytest.raises(ValidationError) as caught:
            setattr(value, name, wrong)
        assert [each["loc"][0] for each in caught.value.errors()] == [name]
    assert value.model_dump() == wire
    value.kind = 5  # falls back, as in JSON
    assert value.kind is None
    assert value.model_dump() == {name: each for name, each in wire.items() if name != "kind"}


def test_assignment_without_validation_works_as_in_any_model() -> None:
    class Loose(v1.ToolCall, frozen=False):
        _seen: int = 0

    value = Loose(tool_call_id="1", title="t", kind="read")
    value._seen = 1
    value.raw_input = {"a": 1}
    value.kind = ABSENT
    setattr(value, "new", [1])  # noqa: B010
    assert value.model_dump() == {"toolCallId": "1", "title": "t", "rawInput": {"a": 1}, "new": [1]}
    del value.raw_input
    assert value.raw_input is None
    with pytest.raises(ValidationError, match="frozen"):
        v1.ToolCall(tool_call_id="1", title="t").title = "u"  # type: ignore[misc]
