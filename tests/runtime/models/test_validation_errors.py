"""A validation error reports each mistake once, with the class and the field, and with what to write instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError, create_model, field_validator

from acp_bindings import v1, v2_draft
from acp_runtime import ABSENT
from acp_runtime.models.unions import ExactlyOne, FirstMatch
from tests.support.models.constructor_calls import WRONG, constructor_calls, json_key
from tests.support.models.outcomes import outcomes
from tests.support.models.profiles import Profile
from tests.support.models.shapes import Samples

TEXT = v1.ContentBlockText(text="x")
CALL = v1.ToolCall(tool_call_id="1", title="t")


def errors_of(cls: Any, /, **arguments: Any) -> list[tuple[tuple[int | str, ...], str]]:
    with pytest.raises(ValidationError) as caught:
        cls(**arguments)
    assert caught.value.title == cls.__name__
    return [(each["loc"], each["msg"]) for each in caught.value.errors()]


def refusal(cls: Any, arguments: dict[str, Any]) -> ValidationError | None:
    try:
        cls(**arguments)
    except ValidationError as error:
        return error
    return None


def test_a_wrong_value_of_any_argument_is_one_error_at_its_name(samples: Samples) -> None:
    tried = 0
    for sample, cls, arguments in constructor_calls(samples):
        for name in arguments:
            schema = sample.shape.properties[json_key(cls, name)]
            for wrong in [each for each in WRONG if not samples.oracle.is_valid(schema, each)]:
                error = refusal(cls, {**arguments, name: wrong})
                if error is not None:
                    tried += 1
                    assert error.title == cls.__name__
                    assert {each["loc"][0] for each in error.errors()} == {name}
                    assert error.error_count() == 1 or isinstance(wrong, (dict, list)), (cls, name, wrong, str(error))
                    assert "<" not in "".join(str(step) for each in error.errors() for step in each["loc"])
    assert tried > 1_000


def test_a_wrong_enum_value_is_one_error() -> None:
    (error,) = errors_of(v1.ToolCall, tool_call_id="1", title="t", kind="reed")
    assert error[0] == ("kind",)
    assert error[1].startswith("Input should be 'read', 'edit'")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            CALL,
            "an instance of SessionUpdateToolCall, not ToolCall: write SessionUpdateToolCall(...) with the same",
        ),
        (
            TEXT,
            "not ContentBlockText: write SessionUpdateUserMessageChunk(content=...), SessionUpdateAgentMessageChunk",
        ),
        (
            {"sessionUpdate": "plan", "entries": []},
            "not dict: write SessionUpdatePlan(...), or SessionUpdatePlan.model_validate(...) for decoded JSON",
        ),
        ({"session_update": "plan", "entries": []}, "SessionUpdatePlan, not dict: write SessionUpdatePlan(...)"),
        ({"entries": []}, "not dict: build one of these, or parse decoded JSON with model_validate"),
        ("hello", "not str"),
        (None, "not NoneType"),
    ],
)
def test_a_value_that_is_not_an_update_is_reported_with_what_to_write(value: Any, message: str) -> None:
    (error,) = errors_of(v1.SessionNotification, session_id="1", update=value)
    assert error[0] == ("update",)
    assert message in error[1]


def test_a_block_in_place_of_its_wrapper_is_reported_with_the_wrapper() -> None:
    (error,) = errors_of(v1.ToolCall, tool_call_id="1", title="t", content=[TEXT])
    assert error == (
        ("content", 0),
        "Input should be an instance of ToolCallContentContent, not ContentBlockText: "
        "write ToolCallContentContent(content=...)",
    )


def test_a_string_in_place_of_a_block_is_reported_with_the_text_block() -> None:
    (error,) = errors_of(v1.PromptRequest, session_id="1", prompt=["hello"])
    assert error[0] == ("prompt", 0)
    assert "write ContentBlockText(text=...)" in error[1]


def test_a_model_of_another_profile_is_reported_with_the_right_import() -> None:
    (error,) = errors_of(v1.PromptRequest, session_id="1", prompt=[v2_draft.ContentBlockText(text="x")])
    assert error[0] == ("prompt", 0)
    assert "not acp_bindings.v2_draft.models.content.ContentBlockText: import it from acp_bindings.v1" in error[1]


def test_a_json_key_as_an_argument_is_one_error_with_the_python_name() -> None:
    assert errors_of(v1.PromptRequest, sessionId="1", prompt=[TEXT]) == [
        (("sessionId",), "Unexpected argument: `sessionId` is a JSON key, write `session_id`")
    ]


def test_a_misspelt_argument_is_one_error_with_the_right_name() -> None:
    assert errors_of(v1.ToolCall, tool_call_id="1", titel="x") == [
        (("titel",), "Unexpected argument: did you mean `title`?")
    ]


def test_an_argument_unlike_any_field_is_reported_as_unknown() -> None:
    assert errors_of(v1.ToolCall, tool_call_id="1", title="x", colour=1) == [
        (("colour",), "Unexpected argument: ToolCall has no field `colour`")
    ]


def test_every_mistake_is_reported() -> None:
    found = errors_of(v1.ToolCall, title=None, content=5, raw_input=5, kind=7)
    assert [loc for loc, _ in found] == [("tool_call_id",), ("title",), ("kind",), ("content",)]


def test_a_value_out_of_bounds_is_reported_with_the_bound() -> None:
    assert errors_of(v1.ReadTextFileRequest, session_id="1", path="/a", line=-1) == [
        (("line",), "Input should be greater than or equal to 0")
    ]


def test_a_wrong_value_for_a_union_of_scalars_is_one_error() -> None:
    assert errors_of(v1.AgentRequest, id=1.5, method="m") == [(("id",), "Input should be an integer or a string")]
    ((loc, message),) = errors_of(v1.CreateElicitationResponseAccept, content={"a": object()})
    assert loc == ("content", "a")
    assert "a valid string" in message
    assert "a valid list" in message


def test_absent_for_a_required_argument_is_reported_as_required() -> None:
    ((loc, message),) = errors_of(v1.ToolCall, tool_call_id=ABSENT, title="t")
    assert loc == ("tool_call_id",)
    assert "required" in message
    assert "ABSENT" in message


def test_absent_for_an_unknown_argument_is_reported_as_unknown_not_as_required() -> None:
    assert errors_of(v1.ToolCall, tool_call_id="1", title="t", contents=ABSENT) == [
        (("contents",), "Unexpected argument: did you mean `content`?")
    ]


def test_the_errors_of_a_subclass_are_like_those_of_its_base() -> None:
    class Loud(v1.ToolCall):
        volume: int

        @field_validator("title")
        @classmethod
        def short(cls, value: str) -> str:
            if len(value) > 5:
                raise ValueError("too long")
            return value

    assert errors_of(Loud, tool_call_id="1", title="longer than that", kind="reed", content=[TEXT], volume="x")[0] == (
        ("title",),
        "Value error, too long",
    )
    found = errors_of(Loud, tool_call_id="1", title="t", kind="reed", content=[TEXT], volume="x")
    assert [loc for loc, _ in found] == [("kind",), ("content", 0), ("volume",)]


@pytest.mark.parametrize("validate", ["model_validate", "model_validate_json"])
def test_invalid_json_is_reported_once_with_json_keys(validate: str) -> None:
    def paths(cls: Any, value: Any) -> list[str]:
        with pytest.raises(ValidationError) as caught:
            getattr(cls, validate)(json.dumps(value) if validate == "model_validate_json" else value)
        assert caught.value.title == cls.__name__
        return [".".join(map(str, each["loc"])) for each in caught.value.errors()]

    assert paths(v1.SessionNotification, {"sessionId": 1, "update": {"sessionUpdate": "plan"}}) == [
        "sessionId",
        "update.plan.entries",
    ]
    assert paths(v2_draft.PromptRequest, {"sessionId": "1", "prompt": [{"type": "text"}]}) == ["prompt.0.text.text"]
    assert paths(v2_draft.PromptRequest, {"sessionId": "1", "prompt": [{"type": 5}]}) == ["prompt.0.type"]
    assert paths(v1.EmbeddedResource, {"resource": {"uri": "u", "text": 5}}) == ["resource.text"]
    assert paths(v1.EmbeddedResource, {"resource": {"uri": "u", "blob": 5}}) == ["resource.blob"]
    assert paths(v1.EmbeddedResource, {"resource": 5}) == ["resource"]
    assert paths(v1.ReadTextFileRequest, {"sessionId": "1", "path": "/", "line": 1.5}) == ["line"]
    server = {"name": "a", "args": [], "env": []}
    assert paths(v1.NewSessionRequest, {"cwd": "/", "mcpServers": [server]}) == ["mcpServers.0.command"]


def test_no_error_has_the_label_of_an_alternative(profile: Profile) -> None:
    tried = 0
    for each in outcomes(profile):
        if each.accepted or not isinstance(each.instance, (dict, list)):
            continue
        adapter = profile.adapter(each.definition)
        with pytest.raises(ValidationError) as caught:
            adapter.validate_python(each.instance)
        for error in caught.value.errors(include_url=False, include_input=False):
            tried += 1
            assert not any(str(step).startswith("<") for step in error["loc"]), error
            assert error["type"] != "known_tag", error
    assert tried > 100


def test_the_errors_are_the_same_whichever_way_a_value_is_parsed(profile: Profile) -> None:
    tried = 0
    ways = cache(lambda name: list(ways_in(getattr(profile.module, name))))
    for each in outcomes(profile):
        if each.accepted or not isinstance(each.instance, (dict, list)):
            continue
        text = json.dumps(each.instance)
        expected = places(profile.adapter(each.definition).validate_python, each.instance, 0)
        tried += len(expected)
        for validate, wrap, depth in ways(each.definition):
            assert places(validate, wrap(each.instance, text), depth) == expected, (each.definition, text)
    assert tried > 100


Way = tuple[Callable[[Any], Any], Callable[[Any, str], Any], int]


def ways_in(declared: Any) -> Iterator[Way]:
    """Yield a function that validates, one that wraps a decoded value or its JSON for it, and the depth of that."""
    adapter, items = TypeAdapter(declared), TypeAdapter(list[declared])
    holder: Any = create_model("Holder", item=(declared, ...))
    yield adapter.validate_json, lambda _, text: text, 0
    yield items.validate_python, lambda value, _: [value], 1
    yield items.validate_json, lambda _, text: f"[{text}]", 1
    yield holder.model_validate, lambda value, _: {"item": value}, 1
    yield holder.model_validate_json, lambda _, text: f'{{"item":{text}}}', 1
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        yield declared.model_validate, lambda value, _: value, 0
        yield declared.model_validate_json, lambda _, text: text, 0
        yield partial(declared.model_validate_json, strict=True), lambda _, text: text, 0


def places(validate: Any, value: Any, depth: int) -> list[Any]:
    """Return the path and the type of each error, without the first steps of the path."""
    with pytest.raises(ValidationError) as caught:
        validate(value)
    return [(each["loc"][depth:], each["type"]) for each in caught.value.errors(include_url=False, include_input=False)]


@pytest.mark.parametrize(
    "name", ["ContentBlock", "SetSessionConfigOptionRequest", "EmbeddedResourceResource", "ElicitationContentValue"]
)
def test_the_title_of_an_error_in_a_union_contains_the_name_of_the_union(name: str) -> None:
    adapter = TypeAdapter(getattr(v1, name))
    for validate, value in ((adapter.validate_python, {}), (adapter.validate_json, "{}")):
        with pytest.raises(ValidationError) as caught:
            validate(value)  # type: ignore[arg-type]
        assert f"[{name}()]" in caught.value.title


def test_a_union_of_ours_in_another_union_is_labelled_with_its_name() -> None:
    class Note(BaseModel):
        item: v1.ContentBlock | int

    with pytest.raises(ValidationError) as caught:
        Note.model_validate({"item": {"type": "text"}})
    assert [each["loc"] for each in caught.value.errors()] == [
        ("item", "ContentBlock", "text", "text"),
        ("item", "int"),
    ]
    with pytest.raises(ValidationError, match=r"for union\[ContentBlock,int\]"):
        TypeAdapter(v1.ContentBlock | int).validate_python("x")


def test_a_union_without_a_name_is_labelled_with_its_members() -> None:
    either: Any = Annotated[v1.TextContent | v1.ImageContent, FirstMatch]
    with pytest.raises(ValidationError, match=r"\[TextContent or ImageContent\(\)\]"):
        TypeAdapter(either).validate_python({})


def test_a_type_adapter_reports_a_wrong_instance_with_what_to_write() -> None:
    with pytest.raises(ValidationError, match=r"write SessionUpdateToolCall\(...\) with the same arguments"):
        TypeAdapter(v1.SessionUpdate).validate_python(CALL)


def test_a_known_tag_for_an_unknown_variant_is_reported_with_the_tag() -> None:
    ((loc, message),) = errors_of(v2_draft.ContentBlockOther, type="text", text="x")
    assert loc == ("type",)
    assert message == "Input should not be 'text', a tag that has its own model"


def test_a_value_of_several_variants_of_an_exclusive_union_is_reported_with_their_names() -> None:
    either: Any = Annotated[v1.TextContent | v1.TextResourceContents, ExactlyOne]
    with pytest.raises(ValidationError, match="but matches TextContent and TextResourceContents"):
        TypeAdapter(either).validate_json('{"text":"x","uri":"u"}')
