"""Generated models in the fields of users' models: parsing, dumping and JSON schemas."""

from __future__ import annotations

import dataclasses
import json
import warnings
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic_core import to_json
from typing_extensions import TypedDict

from acp_bindings import v1, v2_draft
from acp_runtime.jsonrpc.encoding import dump
from acp_runtime.models.markers import EmptyOnMissing
from acp_runtime.models.model import Model
from tests.support.models.oracle import same_json
from tests.support.models.profiles import Profile
from tests.support.models.shapes import Samples

TEXT = v1.ContentBlockText(text="x")
TEXT_JSON = {"text": "x", "type": "text"}
CALL = v1.SessionUpdateToolCall(tool_call_id="1", title="t")
CALL_JSON = {"toolCallId": "1", "title": "t"}
NOTIFICATION = {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": TEXT_JSON}}


class Note(BaseModel):
    """A user's model with generated models in every kind of field."""

    plain: v1.ContentBlockText
    alias: v1.ContentBlock
    either: v1.ContentBlockText | v1.ContentBlockImage
    by_tag: Annotated[v1.ContentBlockText | v1.ContentBlockImage, Field(discriminator="type")]
    by_tag_of_alias: Annotated[v1.ContentBlock | Mine, Field(discriminator="type")]
    or_text: list[v1.ContentBlock | str]
    by_key: dict[str, v1.ToolCall | None]
    untagged: v1.EmbeddedResourceResource | None = None
    nested: v1.SessionNotification | int = 0


class Mine(BaseModel):
    type: Literal["mine"] = "mine"


Note.model_rebuild()


@dataclasses.dataclass
class Data:
    notification: v1.SessionNotification
    blocks: list[v1.ContentBlock]


class Typed(TypedDict):
    notification: v1.SessionNotification
    blocks: list[v1.ContentBlock]


NOTE: dict[str, Any] = {
    "plain": TEXT_JSON,
    "alias": TEXT_JSON,
    "either": TEXT_JSON,
    "by_tag": TEXT_JSON,
    "by_tag_of_alias": TEXT_JSON,
    "or_text": [TEXT_JSON, "y"],
    "by_key": {"a": CALL_JSON, "b": None},
    "untagged": {"text": "x", "uri": "u"},
    "nested": NOTIFICATION,
}


@pytest.fixture(autouse=True)
def _no_warnings() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def built_note() -> Note:
    update = v1.SessionUpdateAgentMessageChunk(content=TEXT)
    return Note(
        plain=TEXT,
        alias=TEXT,
        either=TEXT,
        by_tag=TEXT,
        by_tag_of_alias=TEXT,
        or_text=[TEXT, "y"],
        by_key={"a": v1.ToolCall(tool_call_id="1", title="t"), "b": None},
        untagged=v1.TextResourceContents(text="x", uri="u"),
        nested=v1.SessionNotification(session_id="s", update=update),
    )


@pytest.mark.parametrize(
    "make", [built_note, lambda: Note.model_validate(NOTE), lambda: Note.model_validate_json(json.dumps(NOTE))]
)
def test_a_users_model_parses_and_dumps_ours_without_warnings(make: Any) -> None:
    note = make()
    assert note == built_note()
    assert note.model_dump() == NOTE
    assert note.model_dump(mode="json") == json.loads(note.model_dump_json()) == NOTE
    assert json.loads(dump(note)) == json.loads(to_json(note)) == json.loads(dump({"note": note}))["note"] == NOTE
    assert TypeAdapter(list[Note]).dump_python([note]) == [NOTE]


def test_dataclasses_and_typed_dicts_parse_and_dump_ours() -> None:
    given = {"notification": NOTIFICATION, "blocks": [TEXT_JSON]}
    for adapter in (TypeAdapter(Data), TypeAdapter(Typed)):
        value: Any = adapter.validate_python(given)
        assert adapter.dump_python(value) == given
        assert json.loads(adapter.dump_json(value)) == given
        assert adapter.validate_json(json.dumps(given)) == value


def test_a_web_framework_with_from_attributes_parses_decoded_json() -> None:
    adapter = TypeAdapter(Annotated[v1.PromptRequest, "body"])
    body = {"sessionId": "s", "prompt": [{**TEXT_JSON, "annotations": "wrong"}, {**TEXT_JSON, "annotations": {}}]}
    value = adapter.validate_python(body, from_attributes=True)
    assert value == v1.PromptRequest.model_validate_json(json.dumps(body))
    assert adapter.dump_python(value, mode="json", by_alias=True)["prompt"] == [
        TEXT_JSON,
        {**TEXT_JSON, "annotations": {}},
    ]


def test_decoded_json_and_json_give_equal_values(samples: Samples) -> None:
    for sample in samples.all():
        value = samples.parse(sample, sample.instance)
        for decode in (TypeAdapter(type(value)).validate_python, type(value).model_validate):
            decoded = decode(sample.instance)
            assert decoded == value
            assert decoded.model_fields_set == value.model_fields_set
            assert same_json(json.loads(decoded.model_dump_json()), sample.instance)


def test_decoded_json_is_accepted_exactly_where_json_is(profile: Profile) -> None:
    from tests.support.models.outcomes import outcomes

    for outcome in outcomes(profile):
        if not isinstance(outcome.instance, (dict, list)):  # Python scalars follow Python's rules
            continue
        adapter = profile.adapter(outcome.definition)
        try:
            value = adapter.validate_python(outcome.instance)
        except ValidationError:
            assert not outcome.accepted, outcome
        else:
            assert outcome.accepted, outcome
            assert same_json(json.loads(adapter.dump_json(value)), outcome.dumped), outcome


def test_decoded_json_must_have_json_keys() -> None:
    with pytest.raises(ValidationError):
        v1.SessionNotification.model_validate({"session_id": "s", "update": NOTIFICATION["update"]})
    with pytest.raises(ValidationError):
        TypeAdapter(v1.SessionUpdate).validate_python({"session_update": "plan", "entries": []})


@pytest.mark.parametrize("wrong", [b"x", ("x",), {"x"}, 1, None, object()])
def test_values_that_json_does_not_have_are_refused(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        v1.TextContent.model_validate({"text": wrong})
    with pytest.raises(ValidationError):
        v1.PromptRequest.model_validate({"sessionId": "s", "prompt": wrong})


def test_instances_inside_decoded_json_are_kept() -> None:
    class Loud(v1.ContentBlockText):
        volume: int = 11

    loud = Loud(text="x")
    value = TypeAdapter(v1.PromptRequest).validate_python({"sessionId": "s", "prompt": [loud, TEXT_JSON]})
    assert value.prompt[0] is loud
    assert value.prompt[1] == TEXT


def test_an_instance_of_a_subclass_in_a_list_is_dumped_as_the_declared_class() -> None:
    class Shown(v1.SessionConfigSelectOption):
        colour: str = "red"

    class Loud(v1.ContentBlockText):
        volume: int = 11

    class Holder(BaseModel):
        blocks: list[v1.ContentBlock] | list[v1.ToolCall]

    options = [Shown(value="a", name="A")]
    group = v1.SessionConfigSelectGroup(group="g", name="G", options=options)
    plain = {"value": "a", "name": "A"}
    for given, expected in ((options, [plain]), ([group], [{"group": "g", "name": "G", "options": [plain]}])):
        select = v1.SessionConfigOptionSelect(id="1", name="n", current_value="a", options=given)
        assert select.model_dump()["options"] == json.loads(select.model_dump_json())["options"] == expected
    holder = Holder(blocks=[Loud(text="x")])
    assert holder.model_dump() == json.loads(holder.model_dump_json()) == {"blocks": [TEXT_JSON]}


def test_the_json_schema_of_a_union_names_the_key_of_its_tag() -> None:
    closed, opened = (TypeAdapter(union).json_schema() for union in (v1.SessionUpdate, v2_draft.SessionUpdate))
    for schema in (closed, opened["anyOf"][0]):
        assert schema["discriminator"]["propertyName"] == "sessionUpdate"


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_every_model_and_every_union_has_a_json_schema(
    profile: Profile, mode: Literal["validation", "serialization"]
) -> None:
    unions = {
        name
        for name in profile.module.__all__
        if name[0].isupper() and not name.isupper() and not name.startswith(("Agent", "Client", "Remote"))
    }
    adapters = {name: profile.adapter(name) for name in unions - profile.models.keys()}
    adapters |= {name: TypeAdapter(cls) for name, cls in profile.models.items()}
    schemas, document = TypeAdapter.json_schemas([(name, mode, adapter) for name, adapter in adapters.items()])
    assert {name for name, _ in schemas} == adapters.keys() >= unions
    for name, cls in profile.models.items():
        _check_json_schema(cls, schemas[name, mode], document["$defs"])


def _check_json_schema(cls: type[Model], schema: Any, definitions: dict[str, Any]) -> None:
    """Assert that a JSON schema has the keys of a model's fields and requires those that JSON must have."""
    own = definitions[schema["$ref"].removeprefix("#/$defs/")] if "$ref" in schema else schema
    fields = cls.model_fields.values()
    assert own["properties"].keys() == {field.alias for field in fields}
    assert set(own.get("required", [])) == {
        field.alias for field in fields if field.is_required() and EmptyOnMissing not in field.metadata
    }, cls


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_the_json_schema_of_a_users_model_refers_to_ours(mode: Literal["validation", "serialization"]) -> None:
    schema = Note.model_json_schema(mode=mode)
    assert schema["properties"]["plain"] == {"$ref": "#/$defs/ContentBlockText"}
    assert {"ContentBlockText", "ContentBlockImage", "SessionNotification", "ToolCall"} <= schema["$defs"].keys()
    assert len(schema["properties"]["alias"].get("oneOf", schema["properties"]["alias"].get("anyOf", ()))) >= 5


def test_an_open_union_in_a_users_model_takes_any_tag() -> None:
    class Open(BaseModel):
        blocks: list[v2_draft.ContentBlock]

    given = {"blocks": [TEXT_JSON, {"type": "_new", "payload": [1]}]}
    for value in (Open.model_validate(given), Open.model_validate_json(json.dumps(given))):
        assert value.model_dump() == given
        assert type(value.blocks[1]) is v2_draft.ContentBlockOther
