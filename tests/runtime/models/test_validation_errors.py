"""What is wrong is said once, with the class and the field, and with what to write instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError, create_model, field_validator

from acp_bindings import v1, v2_draft
from acp_runtime import ABSENT
from acp_runtime.models.unions import FirstMatch
from tests.support.models.constructor_calls import WRONG, built, wire_of
from tests.support.models.outcomes import outcomes
from tests.support.models.profiles import Profile
from tests.support.models.shapes import Samples

TEXT = v1.ContentBlockText(text="x")
CALL = v1.ToolCall(tool_call_id="1", title="t")


def mistakes(cls: Any, /, **arguments: Any) -> list[tuple[tuple[int | str, ...], str]]:
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


def test_a_wrong_value_of_any_argument_is_one_mistake_at_its_name(samples: Samples) -> None:
    tried = 0
    for sample, cls, arguments in built(samples):
        for name in arguments:
            schema = sample.shape.properties[wire_of(cls, name)]
            for wrong in [each for each in WRONG if not samples.oracle.is_valid(schema, each)]:
                error = refusal(cls, {**arguments, name: wrong})
                if error is not None:
                    tried += 1
                    assert error.title == cls.__name__
                    assert {each["loc"][0] for each in error.errors()} == {name}
                    assert error.error_count() == 1 or isinstance(wrong, (dict, list)), (cls, name, wrong, str(error))
                    assert "<" not in "".join(str(step) for each in error.errors() for step in each["loc"])
    assert tried > 1_000


def test_a_wrong_tool_kind_is_one_mistake() -> None:
    (found,) = mistakes(v1.ToolCall, tool_call_id="1", title="t", kind="reed")
    assert found[0] == ("kind",)
    assert found[1].startswith("Input should be 'read', 'edit'")


@pytest.mark.parametrize(
    ("value", "words"),
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
        ({"entries": []}, "not dict: constructors take instances of models, not dicts"),
        ("hello", "not str"),
        (None, "not NoneType"),
    ],
)
def test_what_is_no_update_is_said_with_what_to_write(value: Any, words: str) -> None:
    (found,) = mistakes(v1.SessionNotification, session_id="1", update=value)
    assert found[0] == ("update",)
    assert words in found[1]


def test_a_content_block_instead_of_content_is_said_to_be_wrapped() -> None:
    (found,) = mistakes(v1.ToolCall, tool_call_id="1", title="t", content=[TEXT])
    assert found == (
        ("content", 0),
        "Input should be an instance of ToolCallContentContent, not ContentBlockText: "
        "write ToolCallContentContent(content=...)",
    )


def test_a_text_instead_of_a_block_is_said_to_be_wrapped() -> None:
    (found,) = mistakes(v1.PromptRequest, session_id="1", prompt=["hello"])
    assert found[0] == ("prompt", 0)
    assert "write ContentBlockText(text=...)" in found[1]


def test_a_model_of_another_version_is_said_to_come_from_elsewhere() -> None:
    (found,) = mistakes(v1.PromptRequest, session_id="1", prompt=[v2_draft.ContentBlockText(text="x")])
    assert found[0] == ("prompt", 0)
    assert "not acp_bindings.v2_draft.models.ContentBlockText: import it from acp_bindings.v1" in found[1]


def test_an_argument_by_its_name_on_the_wire_is_one_mistake() -> None:
    assert mistakes(v1.PromptRequest, sessionId="1", prompt=[TEXT]) == [
        (("sessionId",), "Unexpected argument: `sessionId` is a JSON key, write `session_id`")
    ]


def test_a_misspelt_argument_is_one_mistake() -> None:
    assert mistakes(v1.ToolCall, tool_call_id="1", titel="x") == [
        (("titel",), "Unexpected argument: did you mean `title`?")
    ]


def test_an_argument_like_none_is_said_to_be_unknown() -> None:
    assert mistakes(v1.ToolCall, tool_call_id="1", title="x", colour=1) == [
        (("colour",), "Unexpected argument: ToolCall has no field `colour`")
    ]


def test_every_mistake_is_said() -> None:
    found = mistakes(v1.ToolCall, title=None, content=5, raw_input=5, kind=7)
    assert [loc for loc, _ in found] == [("tool_call_id",), ("title",), ("kind",), ("content",)]


def test_bounds_are_said_and_not_the_type() -> None:
    assert mistakes(v1.ReadTextFileRequest, session_id="1", path="/a", line=-1) == [
        (("line",), "Input should be greater than or equal to 0")
    ]


def test_a_union_of_scalars_is_one_mistake() -> None:
    assert mistakes(v1.AgentRequest, id=1.5, method="m") == [(("id",), "Input should be an integer or a string")]
    ((loc, message),) = mistakes(v1.CreateElicitationResponseAccept, content={"a": object()})
    assert loc == ("content", "a")
    assert "a valid string" in message
    assert "a valid list" in message


def test_a_required_argument_that_is_absent_is_said_to_be_required() -> None:
    ((loc, message),) = mistakes(v1.ToolCall, tool_call_id=ABSENT, title="t")
    assert loc == ("tool_call_id",)
    assert "required" in message
    assert "ABSENT" in message


def test_a_subclass_says_its_mistakes_like_its_base() -> None:
    class Loud(v1.ToolCall):
        volume: int

        @field_validator("title")
        @classmethod
        def short(cls, value: str) -> str:
            if len(value) > 5:
                raise ValueError("too long")
            return value

    assert mistakes(Loud, tool_call_id="1", title="longer than that", kind="reed", content=[TEXT], volume="x")[0] == (
        ("title",),
        "Value error, too long",
    )
    found = mistakes(Loud, tool_call_id="1", title="t", kind="reed", content=[TEXT], volume="x")
    assert [loc for loc, _ in found] == [("kind",), ("content", 0), ("volume",)]


@pytest.mark.parametrize("validate", ["model_validate", "model_validate_json"])
def test_a_mistake_on_the_wire_is_said_once_in_names_of_the_wire(validate: str) -> None:
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


def test_no_error_has_a_label_of_what_was_tried(profile: Profile) -> None:
    """The ways that the project's own code takes: constructors, decoded JSON and unions."""
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


def test_a_mistake_is_the_same_whichever_way_a_value_comes_in(profile: Profile) -> None:
    tried = 0
    ways = cache(lambda name: list(ways_in(getattr(profile.module, name))))
    for each in outcomes(profile):
        if each.accepted or not isinstance(each.instance, (dict, list)):
            continue
        text = json.dumps(each.instance)
        expected = places(profile.adapter(each.definition).validate_python, each.instance, 0)
        tried += len(expected)
        for validate, wrap, steps in ways(each.definition):
            assert places(validate, wrap(each.instance, text), steps) == expected, (each.definition, text)
    assert tried > 100


Way = tuple[Callable[[Any], Any], Callable[[Any, str], Any], int]


def ways_in(declared: Any) -> Iterator[Way]:
    """How to validate, what to make of a decoded value and its JSON for that, and how many steps it is within."""
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


def places(validate: Any, value: Any, within: int) -> list[Any]:
    with pytest.raises(ValidationError) as caught:
        validate(value)
    return [
        (each["loc"][within:], each["type"]) for each in caught.value.errors(include_url=False, include_input=False)
    ]


@pytest.mark.parametrize(
    "name", ["ContentBlock", "SetSessionConfigOptionRequest", "EmbeddedResourceResource", "ElicitationContentValue"]
)
def test_a_mistake_in_a_union_has_the_name_of_the_union_in_its_title(name: str) -> None:
    adapter = TypeAdapter(getattr(v1, name))
    for validate, value in ((adapter.validate_python, {}), (adapter.validate_json, "{}")):
        with pytest.raises(ValidationError) as caught:
            validate(value)  # type: ignore[arg-type]
        assert f"[{name}()]" in caught.value.title


def test_a_union_of_ours_that_is_a_member_of_another_goes_by_its_name() -> None:
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


def test_a_union_that_has_no_name_goes_by_its_members() -> None:
    either: Any = Annotated[v1.TextContent | v1.ImageContent, FirstMatch]
    with pytest.raises(ValidationError, match=r"\[TextContent or ImageContent\(\)\]"):
        TypeAdapter(either).validate_python({})


def test_an_instance_that_belongs_elsewhere_is_said_in_models_of_others() -> None:
    with pytest.raises(ValidationError, match=r"write SessionUpdateToolCall\(...\) with the same arguments"):
        TypeAdapter(v1.SessionUpdate).validate_python(CALL)
