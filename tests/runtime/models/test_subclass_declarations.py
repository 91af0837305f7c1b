"""Fields, validators, configuration and other declarations in the body of a subclass work as in any pydantic model."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import (
    AliasChoices,
    AliasPath,
    ConfigDict,
    Field,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    computed_field,
    field_serializer,
    field_validator,
    model_validator,
)

from acp_bindings import v1
from acp_runtime import ABSENT, Model, OpenModel, absent
from acp_runtime.jsonrpc.encoding import dump

TEXT = '{"text":"x","type":"text"}'


class Remark(v1.ContentBlockText):
    """Declares what a model of pydantic may declare."""

    rank: Annotated[int, Field(le=9)] = 1
    _seen: list[int] = PrivateAttr(default_factory=lambda: [3])
    _noted: str = ""

    @field_validator("text", mode="before")
    @classmethod
    def strip(cls, value: Any) -> Any:
        return value.strip()

    @field_validator("text")
    @classmethod
    def upper(cls, value: str) -> str:
        return value.upper()

    @model_validator(mode="after")
    def check(self) -> Remark:
        if self.text == "REFUSED":
            raise ValueError("refused")
        return self

    @field_serializer("rank")
    def show(self, rank: int) -> str:
        return f"{rank}."

    @computed_field
    def size(self) -> int:
        return len(self.text)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._noted = self.text


def test_what_a_subclass_declares_has_its_effect_however_an_instance_is_made() -> None:
    given = {"type": "text", "text": " some "}
    dumped = {"text": "SOME", "type": "text", "rank": "1.", "size": 4}
    instances = [
        Remark(text=" some "),
        Remark.model_validate(given),
        Remark.model_validate_json(json.dumps(given)),
        TypeAdapter(list[Remark]).validate_python([given])[0],
    ]
    for value in instances:
        assert value == instances[0]
        assert (value.size, value._seen, value._noted) == (4, [3], "SOME")
        assert value.model_dump() == json.loads(value.model_dump_json()) == json.loads(dump(value)) == dumped
    for arguments in ({"text": "refused"}, {"text": "x", "rank": 10}):
        with pytest.raises(ValidationError):
            Remark(**arguments)
        with pytest.raises(ValidationError):
            Remark.model_validate({"type": "text", **arguments})


def test_a_users_model_needs_no_generated_base() -> None:
    class Ping(Model):
        seq: int
        note: str | None = absent()
        maybe: str | None = None
        sent_by: str = "me"

    class Bag(OpenModel):
        seq: int

    assert Ping(seq=1).model_dump() == {"seq": 1, "maybe": None, "sentBy": "me"}
    parsed = Ping.model_validate_json('{"seq":1,"new":2}')
    assert parsed.model_dump() == {"seq": 1, "maybe": None, "sentBy": "me", "new": 2}
    with pytest.raises(ValidationError):
        Ping(seq=1, new=2)
    assert Bag(seq=1, new=2).model_dump() == {"seq": 1, "new": 2}


def test_a_field_can_be_overridden_with_another_type_and_default() -> None:
    class Strict(v1.NewSessionRequest):
        cwd: str = "/tmp"
        mcp_servers: list[v1.McpServer] = Field(default_factory=list)
        meta: dict[str, int] | None = None

    value = Strict()
    assert value.model_dump() == {"cwd": "/tmp", "mcpServers": [], "_meta": None}
    assert Strict.model_validate_json("{}") == value
    with pytest.raises(ValidationError):
        Strict(meta={"a": "b"})
    with pytest.raises(ValidationError):
        Strict.model_validate_json('{"_meta": {"a": "b"}}')


def test_an_absent_argument_gets_its_default() -> None:
    class Ranked(v1.ContentBlockText):
        rank: int = 1
        name: str

    value = Ranked(text="x", rank=ABSENT, annotations=ABSENT, name="n")
    assert value.model_dump() == {"text": "x", "type": "text", "rank": 1, "name": "n"}
    with pytest.raises(ValidationError, match="Field required"):
        Ranked(text="x", name=ABSENT)


def test_a_subclass_can_change_its_configuration() -> None:
    class Closed(v1.ContentBlockText):
        model_config = ConfigDict(extra="forbid")

    class Careless(v1.ContentBlockText):
        model_config = ConfigDict(extra="ignore", strict=False, str_strip_whitespace=True, frozen=False)
        rank: int = 0

    class Open(v1.ContentBlockText, OpenModel):
        pass

    class Editable(v1.ContentBlockText, frozen=False):
        pass

    class EditableAndOpen(v1.ContentBlockText, OpenModel, frozen=False):
        pass

    with pytest.raises(ValidationError):
        Closed.model_validate_json('{"text":"x","type":"text","more":1}')
    value = Careless.model_validate({"type": "text", "text": " x ", "rank": "3", "more": 1})
    assert Careless(text=" x ", rank=3, more=1) == value
    with pytest.raises(ValidationError):  # constructors are always strict
        Careless(text="x", rank="3")
    assert value.model_dump() == {"text": "x", "type": "text", "rank": 3}
    value.rank = 4
    assert value.rank == 4
    editable, editable_and_open = Editable(text="x"), EditableAndOpen(text="x", less=0)
    editable.more = editable_and_open.more = 1
    assert editable.model_dump() == {"text": "x", "type": "text", "more": 1}
    assert editable_and_open.model_dump() == {"text": "x", "type": "text", "less": 0, "more": 1}
    assert Open(text="x", more=1).model_dump() == {"text": "x", "type": "text", "more": 1}
    with pytest.raises(ValidationError):
        v1.ContentBlockText(text="x", more=1)


def test_an_alias_is_a_keyword_and_a_json_key() -> None:
    class Traced(v1.ContentBlockText):
        trace_id: str = Field(alias="x-trace")
        span: str = Field(default="s", validation_alias="in", serialization_alias="out")

    value = Traced(text="x", trace_id="t")
    assert value == Traced(**{"text": "x", "x-trace": "t"})
    assert value.model_dump() == {"text": "x", "type": "text", "x-trace": "t", "out": "s"}
    assert Traced.model_validate_json('{"text":"x","type":"text","x-trace":"t","in":"s"}') == value
    with pytest.raises(ValidationError, match="x-trace"):
        Traced(**{"text": "x", "trace_id": "t", "x-trace": "u"})


def test_a_keyword_is_the_field_of_that_name_before_it_is_an_alias() -> None:
    class Named(Model):
        first: list[str] = Field(default=[], alias="second")
        second: list[str] = Field(alias="first")

    value = Named(second=("x",))
    assert (value.first, value.second) == ([], ["x"])


def test_a_custom_init_is_called_when_building_and_when_parsing() -> None:
    class Shouted(v1.NewSessionRequest):
        _calls: list[str]

        def __init__(self, cwd: str, **keywords: Any) -> None:
            super().__init__(cwd=cwd.upper(), **keywords)

    assert Shouted("/x", mcp_servers=[]).cwd == "/X"
    parsed = Shouted.model_validate_json('{"cwd":"/x","mcpServers":[],"_meta":{"a":1},"more":2}')
    assert parsed.model_dump() == {"cwd": "/X", "mcpServers": [], "_meta": {"a": 1}, "more": 2}
    with pytest.raises(ValidationError, match="mcpServers"):
        Shouted("/x")


def test_a_custom_init_may_mix_attributes_with_the_json_keys_that_it_gets() -> None:
    class Named(v1.SessionUpdateToolCall):
        def __init__(self, title: str, **keywords: Any) -> None:
            super().__init__(title=title, raw_input={"title": title}, **keywords)

    parsed = Named.model_validate_json('{"sessionUpdate":"tool_call","toolCallId":"1","title":"t"}')
    assert parsed == Named("t", tool_call_id="1")
    assert parsed.model_dump() == {
        "sessionUpdate": "tool_call",
        "toolCallId": "1",
        "title": "t",
        "rawInput": {"title": "t"},
    }


def test_several_validators_of_a_model_run_and_its_lists_stop_at_the_first_error() -> None:
    class Checked(Model):
        names: list[str] | int

        @model_validator(mode="before")
        @classmethod
        def before(cls, value: Any) -> Any:
            return value

        @model_validator(mode="before")
        @classmethod
        def before_that(cls, value: Any) -> Any:
            return value

        @model_validator(mode="after")
        def after(self) -> Checked:
            return self

        @model_validator(mode="after")
        def after_that(self) -> Checked:
            return self

    assert Checked(names=["a"]).names == ["a"]
    with pytest.raises(ValidationError) as caught:
        Checked.model_validate_json('{"names":[1,2,3]}')
    assert [error["loc"][-1] for error in caught.value.errors()] == [0, "int"]


def test_a_field_may_have_more_for_its_json_schema() -> None:
    class Shown(Model):
        name: str = Field(json_schema_extra={"example": "x"})

    assert Shown(name="y").name == "y"


def test_a_validator_that_returns_another_instance_causes_a_warning() -> None:
    class Copied(v1.ContentBlockText):
        @model_validator(mode="after")
        def copy_it(self) -> Copied:
            return self.model_copy()

    with pytest.warns(UserWarning, match="A validator of Copied is returning a value other than `self`") as caught:
        Copied(text="x")
    assert caught[0].filename == __file__
    assert Copied.model_validate_json(TEXT).text == "x"


def test_private_attributes_survive_copies_and_pickles() -> None:
    value = Remembering(text="x")
    value._seen.append(1)
    for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)), value.model_copy()):
        assert again == value
        assert again._seen == [1]


class Remembering(v1.ContentBlockText):
    _seen: list[int] = []  # noqa: RUF012


def test_a_field_may_have_several_aliases_or_a_path() -> None:
    class Traced(v1.ContentBlockText):
        trace_id: str = Field(validation_alias=AliasChoices("trace", "x-trace"))
        span: str = Field(default="s", validation_alias=AliasPath("spans", 0))

    value = Traced(text="x", trace_id="t", annotations=ABSENT)
    assert value == Traced.model_validate_json('{"text":"x","type":"text","x-trace":"t"}')
    with pytest.raises(ValidationError, match="trace_id"):
        Traced(text="x", trace_id=1)


def test_a_field_of_a_type_that_json_does_not_have_is_parsed_from_json() -> None:
    class Inner(Model):
        days: dict[str, list[date]]

    class Dated(v1.ContentBlockImage):
        taken_at: datetime | None = None
        labels: set[str]
        size: tuple[int, date]
        path: Path
        inner: Inner

    given = (
        '{"data":"d","mimeType":"m","type":"image","takenAt":"2026-01-02T03:04:05Z","labels":["a"],'
        '"size":[1,"2026-01-02"],"path":"/a","inner":{"days":{"a":["2026-01-02"]}},"mime_type":3}'
    )
    value = Dated.model_validate_json(given)
    assert value.model_dump_json() == given
    assert value.model_extra == {"mime_type": 3}
    arguments = dict(vars(value))
    assert Dated(**arguments).taken_at == value.taken_at
    for name, wrong in (("taken_at", "2026-01-02T03:04:05Z"), ("labels", ["a"]), ("path", "/a")):
        with pytest.raises(ValidationError, match=name):
            Dated(**{**arguments, name: wrong})
