"""`replace` and `model_copy` make a copy with other values, validate it, and keep everything else."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import pytest
from pydantic import Field, PrivateAttr, ValidationError, field_validator

from acp_bindings.v1 import ContentBlockResourceLink, ContentBlockText, SessionInfoUpdate, ToolCall
from acp_bindings.v2_draft import SessionConfigSelectGroup
from acp_runtime import ABSENT, Model, OpenModel, absent, replace
from acp_runtime.models.markers import EmptyOnError
from acp_runtime.models.scalars import Int32
from acp_runtime.models.unions import FirstMatch
from tests.support.models.outcomes import outcomes
from tests.support.models.profiles import Profile

CALL = ToolCall(tool_call_id="1", title="Read", status="in_progress", raw_input={"a": 1})


Change: TypeAlias = Callable[..., Any]


def _copied(model: Model, /, **changes: Any) -> Model:
    return model.model_copy(update=changes)


@pytest.fixture(params=[replace, _copied])
def change(request: pytest.FixtureRequest) -> Change:
    chosen: Change = request.param
    return chosen


def test_the_named_fields_have_other_values_and_the_model_is_unchanged(change: Change) -> None:
    changed = change(CALL, status="completed", name="read")
    assert changed == ToolCall(tool_call_id="1", title="Read", status="completed", raw_input={"a": 1}, name="read")
    assert CALL.status == "in_progress"
    assert type(changed) is ToolCall


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"status": "done"}, "status"),
        ({"title": 1}, "title"),
        ({"title": ABSENT}, "title"),
        ({"state": "failed"}, "Unexpected argument"),
        ({"state": ABSENT}, "Unexpected argument"),
        ({"toolCallId": "2"}, "Unexpected argument"),
    ],
)
def test_what_the_constructor_refuses_is_refused(change: Change, changes: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        change(CALL, **changes)


def test_a_required_field_that_the_model_was_made_without_is_missing(change: Change) -> None:
    with pytest.raises(ValidationError, match="tool_call_id"):
        change(ToolCall.model_construct(title="t"), title="u")


def test_a_wrong_value_of_another_field_is_refused(change: Change) -> None:
    with pytest.raises(ValidationError, match="kind"):
        change(ToolCall.model_construct(tool_call_id="1", title="t", kind="reed"), title="u")


def test_absent_removes_a_field_and_none_is_null(change: Change) -> None:
    update = SessionInfoUpdate(title="t", updated_at=None)
    assert json.loads(change(update, title=ABSENT).model_dump_json()) == {"updatedAt": None}
    assert json.loads(change(update, title=None).model_dump_json()) == {"title": None, "updatedAt": None}
    assert change(update, title=ABSENT).model_fields_set == {"updated_at"}


def test_unknown_keys_are_kept_even_if_named_like_an_attribute(change: Change) -> None:
    wire = {"type": "resource_link", "name": "a", "uri": "file:///a", "color": "red", "mime_type": "own"}
    link = change(ContentBlockResourceLink.model_validate(wire), mime_type="text/plain", name="b")
    assert link.model_dump() == {**wire, "name": "b", "mimeType": "text/plain"}
    assert link.mime_type == "text/plain"
    assert link == ContentBlockResourceLink.model_validate({**wire, "name": "b", "mimeType": "text/plain"})


@pytest.mark.parametrize("options", [[], [{"value": 1}], None])
def test_a_list_that_leniency_has_emptied_stays_empty(change: Change, options: Any) -> None:
    wire = {"groupId": "g", "name": "G", "options": options, "own": 1}
    group = SessionConfigSelectGroup.model_validate(wire)
    assert change(group, name="H").model_dump() == {**wire, "name": "H", "options": []}
    for changes in ({"options": []}, {"name": 3}, {"meta": 3}, {"nme": "x"}, {"name": ABSENT}):
        with pytest.raises(ValidationError, match=next(iter(changes))):
            change(group, **changes)
    with pytest.raises(ValidationError, match="options"):
        SessionConfigSelectGroup(group_id="g", name="G", options=[])


class Choice(OpenModel):
    """A model whose list is empty only if leniency has emptied it."""

    group_id: Annotated[Int32 | str, FirstMatch]
    options: Annotated[
        Annotated[list[int], Field(min_length=1)] | Annotated[list[str], Field(min_length=1)], EmptyOnError
    ]
    note: str | None = absent()


def test_beside_a_list_that_leniency_has_emptied_values_are_those_of_the_constructor(change: Change) -> None:
    choice = Choice.model_validate({"groupId": "5", "options": [], "note": "n"})
    changed = change(choice, note=ABSENT, groupId="x")
    assert (changed.group_id, changed.options, changed.model_extra) == ("5", [], {"groupId": "x"})
    assert changed.model_fields_set == {"group_id", "options", "groupId"}


def test_an_open_model_takes_replaces_and_removes_unknown_keys(change: Change) -> None:
    class Point(OpenModel):
        x: int
        name: str | None = absent()

    point = Point(x=1, color="red", size=2)  # type: ignore[call-arg]
    changed = change(point, x=2, color="blue", size=ABSENT, depth=3)
    assert changed.model_dump() == {"x": 2, "color": "blue", "depth": 3}


def test_validators_of_a_subclass_run(change: Change) -> None:
    class Remark(ContentBlockText):
        rank: int = 1

        @field_validator("text")
        @classmethod
        def strip(cls, value: str) -> str:
            return value.strip()

    remark = change(Remark(text="a"), text=" b ")
    assert (remark.text, remark.rank) == ("b", 1)
    assert remark.model_fields_set == {"text", "type"}


class Counted(ToolCall):
    _seen: list[int] = PrivateAttr(default_factory=list[int])

    @property
    def seen(self) -> list[int]:
        return self._seen


def test_a_copy_keeps_private_attributes_and_is_deep_if_asked() -> None:
    call = Counted(tool_call_id="1", title="t", raw_input={"a": [1]})
    call.seen.append(7)
    for deep in (False, True):
        copied = call.model_copy(update={"title": "u"}, deep=deep)
        assert (copied.title, copied.raw_input, copied.seen) == ("u", {"a": [1]}, [7])
        assert (copied.raw_input is call.raw_input, copied.seen is call.seen) == (not deep, not deep)
    assert call.model_copy() == call.model_copy(update={}) == call
    assert call.model_copy().raw_input is call.raw_input


@pytest.mark.skipif(sys.version_info < (3, 13), reason="copy.replace is new in Python 3.13")
def test_copy_replace_does_the_same() -> None:
    import copy

    changed: Any = copy.replace(CALL, status="completed")  # type: ignore[attr-defined, unused-ignore]
    assert changed == replace(CALL, status="completed")


def test_replacing_nothing_gives_the_same_json(profile: Profile) -> None:
    checked = 0
    for outcome in outcomes(profile):
        value = (
            profile.adapter(outcome.definition).validate_json(json.dumps(outcome.instance)) if outcome.valid else None
        )
        if isinstance(value, Model):
            copied = replace(value)
            assert copied == value
            assert copied.model_fields_set == value.model_fields_set
            assert copied.model_dump_json() == value.model_dump_json()
            checked += 1
    assert checked > 500
