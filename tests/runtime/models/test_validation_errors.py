"""A validation error reports each mistake once, with the class and the field, and with what to write instead."""

from __future__ import annotations

import json
from typing import Annotated, Any, get_args

import pytest
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from acp_bindings import v1, v2_draft
from acp_runtime import ABSENT, Model, OpenModel
from acp_runtime.jsonrpc.error_responses import explain
from acp_runtime.models.scalars import Int32
from acp_runtime.models.unions import ExactlyOne, FirstMatch
from tests.runtime.models.constructor_calls import WRONG, constructor_calls, json_key
from tests.support.models.shapes import Samples

TEXT = v1.ContentBlockText(text="x")
CALL = v1.ToolCall(tool_call_id="1", title="t")
UPDATES = [member.__name__ for member in get_args(get_args(v1.SessionUpdate)[0])]


def errors_of(cls: Any, /, **arguments: Any) -> list[tuple[tuple[int | str, ...], str]]:
    with pytest.raises(ValidationError) as caught:
        cls(**arguments)
    assert caught.value.title == cls.__name__
    return [(error["loc"], error["msg"]) for error in caught.value.errors()]


def test_a_wrong_value_of_any_argument_is_reported_at_its_name(samples: Samples) -> None:
    tried = 0
    for sample, cls, arguments in constructor_calls(samples):
        for name in arguments:
            schema = sample.shape.properties[json_key(cls, name)]
            for wrong in [wrong for wrong in WRONG if not samples.oracle.is_valid(schema, wrong)]:
                tried += 1
                with pytest.raises(ValidationError) as caught:
                    cls(**{**arguments, name: wrong})
                assert caught.value.title == cls.__name__
                assert {error["loc"][0] for error in caught.value.errors()} == {name}
                assert not any(str(step).startswith("[") for error in caught.value.errors() for step in error["loc"])
    assert tried > 1_000


@pytest.mark.parametrize("profile", [v1, v2_draft])
@pytest.mark.parametrize("value", ["hi", TEXT, {}])
def test_something_else_than_a_list_of_models_shows_how_to_write_one(profile: Any, value: Any) -> None:
    (error,) = errors_of(profile.PromptRequest, session_id="s", prompt=value)
    assert error == (("prompt",), 'Input should be a list, such as [ContentBlockText(text="...")]')


def test_the_example_of_an_item_is_a_model_that_requires_one_text() -> None:
    (error,) = errors_of(v1.ToolCall, tool_call_id="1", title="t", content="x")
    assert error == (("content",), 'Input should be a list, such as [ToolCallContentTerminal(terminal_id="...")]')
    (error,) = errors_of(v1.NewSessionRequest, cwd="/", mcp_servers="x")
    assert error == (("mcp_servers",), "Input should be a valid list")


def test_a_wrong_enum_value_is_one_error() -> None:
    (error,) = errors_of(v1.ToolCall, tool_call_id="1", title="t", kind="reed")
    assert error[0] == ("kind",)
    assert error[1].startswith("Input should be 'read', 'edit'")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (CALL, "Input should be SessionUpdateToolCall, not ToolCall"),
        (TEXT, f"Input should be {', '.join(UPDATES[:-1])} or {UPDATES[-1]}, not ContentBlockText"),
        ({"sessionUpdate": "plan", "entries": []}, "or parse decoded JSON with model_validate"),
        ("hello", f"{UPDATES[-1]}, not str"),
        ((), f"{UPDATES[-1]}, not tuple"),
        (None, f"{UPDATES[-1]}, not NoneType"),
    ],
)
def test_a_value_that_is_no_update_is_reported_with_the_allowed_classes(value: Any, message: str) -> None:
    (error,) = errors_of(v1.SessionNotification, session_id="1", update=value)
    assert error[0] == ("update",)
    assert message in error[1]


def test_a_block_in_place_of_its_wrapper_is_reported_with_the_wrapper() -> None:
    (error,) = errors_of(v1.ToolCall, tool_call_id="1", title="t", content=[TEXT])
    assert error[0] == ("content", 0)
    assert error[1].startswith("Input should be ToolCallContentContent, ToolCallContentDiff")
    assert error[1].endswith(", not ContentBlockText")


def test_a_string_in_place_of_a_block_is_reported_with_the_blocks() -> None:
    (error,) = errors_of(v1.PromptRequest, session_id="1", prompt=["hello"])
    assert error[0] == ("prompt", 0)
    assert error[1].startswith("Input should be ")
    assert "ContentBlockText, ContentBlockImage" in error[1]
    assert error[1].endswith("not str")


BLOCKS = "ContentBlockText, ContentBlockImage, ContentBlockAudio, ContentBlockResourceLink or ContentBlockResource"


@pytest.mark.parametrize(
    ("cls", "arguments", "classes"),
    [
        (v1.InitializeRequest, {"client_capabilities": {"fs": 5}}, "FileSystemCapabilities"),
        (v1.SessionNotification, {"update": {"session_update": "agent_message_chunk", "content": 5}}, BLOCKS),
        (v1.ToolCall, {"content": [{"type": "content", "content": 5}]}, BLOCKS),
        (v1.PromptRequest, {"prompt": [{"type": "resource", "resource": 5}]}, "TextResourceContents or BlobResourceC"),
        (v1.NewSessionRequest, {"mcp_servers": [{"name": "n", "command": "c", "args": [], "env": [5]}]}, "EnvVariable"),
        (v1.InitializeResponse, {"agent_capabilities": {"mcp_capabilities": 5}}, "McpCapabilities"),
    ],
)
def test_an_error_in_a_dict_names_the_classes_of_its_place(cls: Any, arguments: Any, classes: str) -> None:
    wrong = [message for path, message in errors_of(cls, **arguments) if len(path) > 1]
    assert len(wrong) == 1
    assert wrong[0].startswith(f"Input should be {classes}")
    assert wrong[0].endswith(", not int")


def test_an_error_in_a_mapping_names_the_class_of_its_values() -> None:
    class Holder(Model):
        title: dict[str, v1.EnvVariable]

    (error,) = errors_of(Holder, title={"title": 5})
    assert error == (("title", "title"), "Input should be EnvVariable, not int")


def test_a_model_of_another_profile_is_reported_with_its_module() -> None:
    (error,) = errors_of(v1.PromptRequest, session_id="1", prompt=[v2_draft.ContentBlockText(text="x")])
    assert error[0] == ("prompt", 0, "text")
    assert error[1].endswith("not acp_bindings.v2_draft.models.content.ContentBlockText")


KNOWN: dict[str, Any] = {"tool_call_id": "1", "title": "t"}
READ: dict[str, Any] = {"session_id": "1", "path": "/a"}


@pytest.mark.parametrize(
    ("cls", "arguments", "name", "message"),
    [
        (v1.KillTerminalRequest, {"sessionId": "1", "terminal_id": "t"}, "sessionId", "a JSON key, write `session_id`"),
        (v1.ToolCall, {"tool_call_id": "1", "titel": "x"}, "titel", "did you mean `title`?"),
        (v1.ToolCall, {**KNOWN, "colour": 1}, "colour", "ToolCall has no field `colour`"),
        (v1.ToolCall, {**KNOWN, "[a]": 1}, "[a]", "ToolCall has no field `[a]`"),
        (v1.ToolCall, {**KNOWN, "contents": ABSENT}, "contents", "did you mean `content`?"),
        (v1.ToolCall, {**KNOWN, "titel": "x"}, "titel", "ToolCall has no field `titel`"),
        (v1.ToolCall, {**KNOWN, "tool_call_id": ABSENT}, "tool_call_id", "Field required"),
        (v1.ReadTextFileRequest, {**READ, "line": -1}, "line", "Input should be greater than or equal to 0"),
    ],
)
def test_a_mistake_is_one_error_that_says_what_to_write(cls: Any, arguments: Any, name: str, message: str) -> None:
    ((path, said),) = errors_of(cls, **arguments)
    assert path == (name,)
    assert said.endswith(message)


def test_a_json_key_of_one_field_is_not_taken_for_a_spelling_of_another() -> None:
    class Tools(Model):
        toolid: str = ""
        tool_id: str

    (error,) = errors_of(Tools, toolId="1")
    assert error == (("toolId",), "Unexpected argument: `toolId` is a JSON key, write `tool_id`")


def test_a_missing_field_is_reported_although_a_given_one_has_a_similar_name() -> None:
    class Names(Model):
        name: str
        names: list[str]

    assert errors_of(Names, name="x") == [(("names",), "Field required")]


def test_a_field_missing_inside_of_an_argument_is_reported_beside_a_spelling_mistake() -> None:
    class Inner(Model):
        title: str

    class Outer(Model):
        title: str
        inner: Inner

    assert errors_of(Outer, titel="x", inner={}) == [
        (("inner", "title"), "Field required"),
        (("titel",), "Unexpected argument: did you mean `title`?"),
    ]
    assert errors_of(Outer, title="x", inner={"title": "y", "inner": 1}) == [
        (("inner", "inner"), "Extra inputs are not permitted")
    ]


def test_an_error_of_a_validator_for_a_model_is_kept() -> None:
    class Checked(Model):
        block: v1.ContentBlockText
        blocks: list[v1.ContentBlockText]

        @field_validator("block", "blocks")
        @classmethod
        def check(cls, value: Any) -> Any:
            raise ValueError("not today")

    message = "Value error, not today"
    assert errors_of(Checked, block=TEXT, blocks=[TEXT]) == [(("block",), message), (("blocks",), message)]


def test_an_error_without_known_classes_is_pydantics() -> None:
    class Pair(Model):
        pair: tuple[v1.EnvVariable, int]

    ((path, message),) = errors_of(Pair, pair=(5, 1))
    assert path == ("pair", 0)
    assert message.startswith("Input should be a valid dictionary or instance of EnvVariable")


def test_an_error_of_a_typed_unknown_key_is_kept() -> None:
    class Counts(OpenModel):
        __pydantic_extra__: dict[str, int] = Field(init=False)

    assert errors_of(Counts, apples="x") == [(("apples",), "Input should be a valid integer")]


def test_the_path_of_an_error_of_pydantic_names_the_alternatives() -> None:
    either: Any = Annotated[Int32 | list[str] | v1.EmbeddedResourceResource, FirstMatch]
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(either).validate_python(5.5)
    labels = dict.fromkeys(error["loc"][0] for error in caught.value.errors())
    assert list(labels) == ["[as int]", "[as list[str]]", "[as TextResourceContents or BlobResourceContents]"]


def test_two_alternatives_are_both_expected() -> None:
    class Holder(Model):
        value: Annotated[int | str, FirstMatch]

    assert errors_of(Holder, value=None) == [(("value",), "Input should be a valid integer or a valid string")]


def test_a_key_in_brackets_is_in_the_path_of_its_error() -> None:
    ((path, _),) = errors_of(v1.CreateElicitationResponseAccept, content={"[a]": object()})
    assert path == ("content", "[a]")


def test_an_error_of_a_constructor_has_the_limits_and_the_input() -> None:
    with pytest.raises(ValidationError, match="input_value=-1") as caught:
        v1.ReadTextFileRequest(session_id="1", path="/a", line=-1)
    assert caught.value.errors()[0]["ctx"] == {"ge": 0}


def test_a_tuple_inside_of_an_argument_is_reported_at_its_place() -> None:
    class Inner(Model):
        names: list[str]

    class Outer(Model):
        inner: Inner

    assert errors_of(Outer, inner={"names": ("a",)}) == [(("inner", "names"), "Input should be a valid list")]


def test_every_mistake_is_reported() -> None:
    reported = errors_of(v1.ToolCall, title=None, content=5, raw_input=5, kind=7)
    assert [loc for loc, _ in reported] == [("tool_call_id",), ("title",), ("kind",), ("content",)]


def test_a_wrong_value_for_a_union_of_scalars_lists_what_is_expected() -> None:
    ((loc, message),) = errors_of(v1.CreateElicitationResponseAccept, content={"a": object()})
    assert loc == ("content", "a")
    assert "a valid string" in message
    assert "a valid list" in message


@pytest.mark.parametrize("validate", ["model_validate", "model_validate_json"])
def test_invalid_json_is_reported_with_json_keys(validate: str) -> None:
    def paths(cls: Any, value: Any) -> list[str]:
        with pytest.raises(ValidationError) as caught:
            getattr(cls, validate)(json.dumps(value) if validate == "model_validate_json" else value)
        assert caught.value.title == cls.__name__
        return [".".join(map(str, error["loc"])) for error in caught.value.errors()]

    assert paths(v1.SessionNotification, {"sessionId": 1, "update": {"sessionUpdate": "plan"}}) == [
        "sessionId",
        "update.plan.entries",
    ]
    assert paths(v1.ReadTextFileRequest, {"sessionId": "1", "path": "/", "line": 1.5}) == ["line"]
    # Where alternatives are tried in order, pydantic reports the errors of all.
    assert paths(v2_draft.PromptRequest, {"sessionId": "1", "prompt": [{"type": "text"}]}) == [
        "prompt.0.[by type].text.text",
        "prompt.0.[as ContentBlockOther].type",
    ]
    assert paths(
        v2_draft.UpdateSessionNotification, {"sessionId": "1", "update": {"sessionUpdate": "tool_call_update"}}
    ) == [
        "update.[by sessionUpdate].tool_call_update.toolCallId",
        "update.[as SessionUpdateOther].sessionUpdate",
    ]


@pytest.mark.parametrize(
    ("cls", "value", "expected"),
    [
        (v2_draft.PromptRequest, {"sessionId": "1", "prompt": [{"type": "text"}]}, ["prompt.0.text.text"]),
        (v2_draft.PromptRequest, {"sessionId": "1", "prompt": [{"type": 5}]}, ["prompt.0.type"]),
        (v2_draft.PromptRequest, {"sessionId": "1", "prompt": [5, {"type": "text"}]}, ["prompt.0"]),
        (v1.EmbeddedResource, {"resource": {"uri": "u", "text": 5}}, ["resource.text"]),
        (v1.EmbeddedResource, {"resource": {"uri": "u", "blob": 5}}, ["resource.blob"]),
        (v1.EmbeddedResource, {"resource": 5}, ["resource"]),
        (
            v1.NewSessionRequest,
            {"cwd": "/", "mcpServers": [{"name": "a", "args": [], "env": []}]},
            ["mcpServers.0.command"],
        ),
        (
            v1.NewSessionRequest,
            {"cwd": "/", "mcpServers": [{"name": "a", "type": "http", "url": 5}]},
            ["mcpServers.0.http.url", "mcpServers.0.http.headers"],
        ),
    ],
)
def test_a_peer_gets_the_errors_of_the_intended_alternative(cls: Any, value: Any, expected: list[str]) -> None:
    with pytest.raises(ValidationError) as caught:
        cls.model_validate(value)
    assert [fault["path"] for fault in explain(caught.value, 0)["errors"]] == expected


def test_a_known_tag_for_an_unknown_variant_is_reported_with_the_tag() -> None:
    ((loc, message),) = errors_of(v2_draft.ContentBlockOther, type="text", text="x")
    assert loc == ("type",)
    assert message == "Input should not be 'text', a tag that has its own model"


def test_a_value_of_several_variants_of_an_exclusive_union_is_reported_with_their_names() -> None:
    either: Any = Annotated[v1.TextContent | v1.TextResourceContents, ExactlyOne]
    with pytest.raises(ValidationError, match="but matches TextContent and TextResourceContents"):
        TypeAdapter(either).validate_json('{"text":"x","uri":"u"}')
    assert TypeAdapter(either).validate_python({"text": "\ud800"}).text == "\ud800"  # not UTF-8


@pytest.mark.parametrize("kind", ["value_error", "missing", "string_too_short", "mine"])
def test_a_validator_may_raise_an_error_of_any_type(kind: Any) -> None:
    class Checked(v1.ContentBlockText):
        @field_validator("text")
        @classmethod
        def check_text(cls, value: str) -> str:
            raise PydanticCustomError(kind, "This text is wrong")

    class Whole(v1.ContentBlockText):
        @model_validator(mode="after")
        def check(self) -> Whole:
            raise PydanticCustomError(kind, "This block is wrong")

    assert errors_of(Checked, text="x") == [(("text",), "This text is wrong")]
    assert errors_of(Whole, text="x") == [((), "This block is wrong")]


def test_the_errors_of_constructors_hide_input_if_the_class_is_configured_so() -> None:
    class Secret(v1.ContentBlockText):
        model_config = ConfigDict(hide_input_in_errors=True)

    with pytest.raises(ValidationError) as caught:
        Secret(text=b"password")
    assert "password" not in str(caught.value)
