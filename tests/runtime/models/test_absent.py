"""`ABSENT` leaves an argument out, in constructors and proxies. Reading a field never returns it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError, model_validator
from pydantic_core import to_jsonable_python

from acp_bindings import v2_draft
from acp_bindings.v1 import (
    ContentBlock,
    ContentBlockText,
    InitializeRequest,
    LoadSessionRequest,
    ReadTextFileRequest,
    RemoteAgent,
    RemoteClient,
    SessionInfoUpdate,
    ToolCall,
)
from acp_runtime import ABSENT, Model, absent
from tests.runtime.models.constructor_calls import constructor_calls
from tests.support.models.profiles import Profile
from tests.support.models.recorder import Recorder
from tests.support.models.shapes import Samples

TEXT = ContentBlockText(text="a")


def test_no_serializer_dumps_an_absent_field() -> None:
    class Holder(BaseModel):
        text: ContentBlockText
        either: ContentBlock | int
        anything: Any

    holder = Holder(text=TEXT, either=TEXT, anything=TEXT)
    wire = {"text": "a", "type": "text"}
    assert holder.model_dump() == {"text": wire, "either": wire, "anything": wire}
    assert json.loads(holder.model_dump_json()) == holder.model_dump()
    assert TypeAdapter(Any).dump_python(TEXT) == TypeAdapter(ContentBlock).dump_python(TEXT) == wire
    assert to_jsonable_python([TEXT]) == [wire]


def test_neither_repr_nor_iteration_shows_an_absent_field() -> None:
    assert repr(TEXT) == "ContentBlockText(text='a', type='text')"
    assert dict(TEXT) == {"text": "a", "type": "text"}
    assert TEXT.model_fields_set == {"text", "type"}
    assert ContentBlockText(text="a", meta=ABSENT, annotations=ABSENT).model_fields_set == {"text", "type"}


def test_an_absent_list_is_a_new_empty_list_each_time() -> None:
    request = LoadSessionRequest(session_id="1", cwd="/", mcp_servers=[])
    request.additional_directories.append("/a")
    assert request.additional_directories == []
    assert "additionalDirectories" not in request.model_dump()


def test_a_field_that_may_be_absent_is_set_and_deleted_as_any_other() -> None:
    class Editable(SessionInfoUpdate, frozen=False):
        @model_validator(mode="after")
        def name_it(self) -> Editable:
            object.__setattr__(self, "title", "t")
            return self

    update = Editable(updated_at="now")
    assert update.title == "t"
    del update.title
    assert update.title is None
    assert "title" not in update.model_dump()
    with pytest.raises(AttributeError, match=r"^title$"):
        _ = Editable.title


def test_a_field_of_a_user_may_be_absent() -> None:
    class Ping(Model):
        note: str | None = absent()
        count: int = absent(3)
        names: list[str] = absent(default_factory=lambda: ["a"])

    assert (Ping().note, Ping().count, Ping().names) == (None, 3, ["a"])
    assert Ping().model_dump_json() == Ping.model_validate_json("{}").model_dump_json() == "{}"
    assert Ping(note=None, count=3).model_dump_json() == '{"note":null,"count":3}'
    assert Ping.model_json_schema()["properties"]["count"]["default"] == 3


@pytest.mark.slow
def test_every_optional_argument_of_a_constructor_may_be_absent(samples: Samples) -> None:
    for sample, cls, arguments in constructor_calls(samples, keys=set()):
        absent = {name: ABSENT for name, field in cls.model_fields.items() if not field.is_required()}
        value = cls(**{**absent, **arguments})
        assert value == cls(**arguments)
        assert value.model_fields_set == cls(**arguments).model_fields_set
        assert samples.dump(sample, value) == sample.instance
        assert not any(getattr(value, name) is ABSENT for name in cls.model_fields)


def test_a_required_argument_cannot_be_absent(samples: Samples) -> None:
    for _, cls, arguments in constructor_calls(samples, keys=set()):
        for name in arguments:
            if "Any" not in str(cls.model_fields[name].annotation):  # it takes anything
                with pytest.raises(ValidationError):
                    cls(**{**arguments, name: ABSENT})


def test_an_absent_keyword_of_an_open_variant_adds_no_payload() -> None:
    keywords: dict[str, Any] = {"points": [1], "colour": ABSENT}
    assert v2_draft.ContentBlockOther(type="_chart", **keywords).model_extra == {"points": [1]}


def test_absent_is_not_null() -> None:
    assert ToolCall(tool_call_id="1", title="a", raw_input=ABSENT).model_dump_json() == '{"toolCallId":"1","title":"a"}'
    assert SessionInfoUpdate(title=None).model_dump_json() == '{"title":null}'
    assert SessionInfoUpdate(title=ABSENT).model_dump_json() == "{}"


def test_a_keyword_of_a_proxy_may_be_absent() -> None:
    channel = Recorder()
    client = RemoteClient(channel)
    asyncio.run(client.fs_read_text_file(session_id="1", path="/a", line=ABSENT, limit=3, meta=ABSENT))
    assert channel.sent == [ReadTextFileRequest(session_id="1", path="/a", limit=3)]


def test_a_required_keyword_of_a_proxy_cannot_be_absent() -> None:
    channel = Recorder()
    with pytest.raises(ValidationError, match=r"(?s)PromptRequest.*session_id.*required"):
        asyncio.run(RemoteAgent(channel).session_prompt(session_id=ABSENT, prompt=[TEXT]))
    assert channel.sent == []


def test_a_tuple_becomes_the_list_of_a_constructor(samples: Samples) -> None:
    tried = 0
    for sample, cls, arguments in constructor_calls(samples):
        tuples = {name: as_tuple(value) for name, value in arguments.items()}
        lists = [name for name, value in arguments.items() if isinstance(value, list)]
        if lists and not takes_any(cls, lists):
            tried += 1
            value = cls(**tuples)
            assert value == cls(**arguments)
            assert [type(getattr(value, name)) for name in lists] == [list] * len(lists)
            assert json.loads(value.model_dump_json()) == json.loads(cls(**arguments).model_dump_json())
            assert samples.parse(sample, samples.dump(sample, value)) == cls(**arguments)
    assert tried > 20


@pytest.mark.parametrize(
    "wrong", ["ab", b"ab", bytearray(b"ab"), {"a": 1}, {"a"}, frozenset("a"), range(2), iter("a"), (x for x in "a")]
)
def test_nothing_but_lists_and_tuples_becomes_the_list_of_a_constructor(profile: Profile, wrong: Any) -> None:
    models: Any = profile.module
    with pytest.raises(ValidationError):
        models.Annotations(audience=wrong)
    with pytest.raises(ValidationError):
        models.PromptRequest(session_id="1", prompt=wrong)


def as_tuple(value: Any) -> Any:
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value


def takes_any(cls: Any, names: list[str]) -> bool:
    """Return whether a field takes any JSON, and leaves a tuple unchanged."""
    return any(cls.model_fields[name].annotation is Any for name in names)


def test_model_construct_leaves_missing_fields_absent() -> None:
    instance = ContentBlockText.model_construct(text="x", type="text")
    assert instance.model_dump() == {"type": "text", "text": "x"}
    assert instance == ContentBlockText(text="x")
    given = InitializeRequest.model_construct(protocol_version=1, client_info=None, meta=ABSENT)
    assert given.model_dump_json() == '{"protocolVersion":1,"clientInfo":null}'


def test_updating_a_copy_with_absent_removes_the_field() -> None:
    block = ContentBlockText(text="x", meta={"a": 1})
    assert block.model_copy(update={"meta": ABSENT}) == ContentBlockText(text="x")
    assert block.model_copy(update={"meta": ABSENT}).model_dump() == {"type": "text", "text": "x"}
    assert block.meta == {"a": 1}
