"""A subclass of a generated class is an ordinary pydantic model, whether its base was used before or not.

What has to be tried on a class that nobody has touched runs in a process of its own.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import pytest
from pydantic import (
    ConfigDict,
    Field,
    PydanticUserError,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from acp_bindings import v1
from acp_runtime import ABSENT
from acp_runtime.models.model import Model, OpenModel
from tests.support.paths import ROOT

TEXT = '{"text":"x","type":"text"}'

T = TypeVar("T")


def in_a_fresh_process(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments], capture_output=True, text=True, check=False, cwd=ROOT, timeout=100
    )
    assert not done.returncode, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("first", ["built", "parsed"])
@pytest.mark.parametrize("state", ["fresh", "used"])
def test_whatever_a_subclass_declares_holds_however_it_is_made_and_dumped(state: str, first: str) -> None:
    assert in_a_fresh_process("-m", "tests.support.models.subclass_matrix", state, first) == ""


def test_a_subclass_in_a_module_without_the_future_import_is_like_any_other() -> None:
    in_a_fresh_process(
        "-c",
        """
from tests.support.models.without_future import Link, Prompt
link = Link(name=" n ", uri="u", inner=[Link(name="m", uri="u")])
assert link.name == "n" and link.rank == 1 and link.note is None and link._seen == 2 and link.shown == []
assert link.model_dump() == {
    "name": "n", "uri": "u", "type": "resource_link", "rank": 1,
    "inner": [{"name": "m", "uri": "u", "type": "resource_link", "rank": 1, "inner": []}],
}
assert Link.model_validate_json(link.model_dump_json()) == link
prompt = Prompt(session_id="s", prompt=[link], first=link, rank=1)
assert Prompt.model_validate_json(prompt.model_dump_json()).rank == 1
""",
    )


def test_a_subclass_in_a_function_finds_the_names_of_the_function() -> None:
    loudness = Annotated[int, Field(le=11)]

    class Loud(v1.ContentBlockText):
        volume: loudness = 3

    class Pair(v1.ContentBlockText):
        left: Loud
        right: Later | None = None

    class Later(Model):
        name: str

    assert Pair(text="x", left=Loud(text="y"), right=Later(name="n")).model_dump()["right"] == {"name": "n"}
    assert Loud.model_fields["volume"].annotation is int
    with pytest.raises(ValidationError, match="less than or equal to 11"):
        Loud(text="x", volume=12)


def test_an_annotation_that_nothing_defines_is_said_when_an_instance_is_built() -> None:
    class Lost(v1.ContentBlockText):
        left: Nowhere  # noqa: F821

    with pytest.raises(PydanticUserError, match="`Lost` is not fully defined; you should define `Nowhere`"):
        Lost(text="x")


def test_a_subclass_of_a_subclass_has_what_both_declare() -> None:
    class First(v1.ContentBlockText):
        rank: int = 1

        @field_validator("text")
        @classmethod
        def upper(cls, value: str) -> str:
            return value.upper()

    class Second(First):
        note: str

        @model_validator(mode="after")
        def check(self) -> Second:
            assert self.text.isupper()
            return self

    value = Second(text="x", note="n")
    assert value.model_dump() == {"text": "X", "type": "text", "rank": 1, "note": "n"}
    assert Second.model_validate_json(value.model_dump_json()) == value
    assert isinstance(value, First)
    assert not isinstance(First(text="x"), Second)


def test_mixins_bring_fields_and_methods() -> None:
    class Plain:
        source: str = "editor"

        def shout(self) -> str:
            return self.text.upper()

    class Ranked(Model):
        rank: int = 1

        @field_validator("rank")
        @classmethod
        def positive(cls, value: int) -> int:
            assert value > 0
            return value

    class Ours(Plain, v1.ContentBlockText, Ranked):
        pass

    value = Ours(text="x")
    assert value.shout() == "X"
    assert value.model_dump() == {"text": "x", "type": "text", "source": "editor", "rank": 1}
    with pytest.raises(ValidationError):
        Ours(text="x", rank=0)
    with pytest.raises(ValidationError):
        Ours.model_validate_json('{"type":"text","text":"x","rank":0}')


def test_a_subclass_of_two_generated_classes_has_the_fields_of_both() -> None:
    class Both(v1.EnvVariable, v1.Implementation):
        pass

    value = Both(name="n", value="v", version="1")
    assert Both.model_validate_json(value.model_dump_json()) == value
    assert value.model_dump() == {"name": "n", "value": "v", "version": "1"}


def test_a_generic_subclass_takes_parameters() -> None:
    class Box(v1.ContentBlockText, Generic[T]):
        item: T
        items: list[T] = Field(default_factory=list)

    value = Box[int](text="x", item=1)
    assert value.model_dump() == {"text": "x", "type": "text", "item": 1, "items": []}
    assert Box[int].model_validate_json(value.model_dump_json()) == value
    with pytest.raises(ValidationError):
        Box[int](text="x", item="1")
    assert Box[v1.ContentBlockText](text="x", item=v1.ContentBlockText(text="y")).item.text == "y"


def test_a_field_is_overridden_by_another_type_and_another_default() -> None:
    class Strict(v1.NewSessionRequest):
        cwd: str = "/tmp"
        mcp_servers: list[v1.McpServer] = Field(default_factory=list)
        meta: dict[str, int] | None = None

    value = Strict()
    assert value.model_dump() == {"cwd": "/tmp", "mcpServers": []}
    assert Strict.model_validate_json("{}") == value
    with pytest.raises(ValidationError):
        Strict(meta={"a": "b"})
    with pytest.raises(ValidationError):
        Strict.model_validate_json('{"_meta": {"a": "b"}}')


def test_an_argument_that_is_absent_gets_its_default() -> None:
    class Ranked(v1.ContentBlockText):
        rank: int = 1
        name: str

    value = Ranked(text="x", rank=ABSENT, annotations=ABSENT, name="n")
    assert value.model_dump() == {"text": "x", "type": "text", "rank": 1, "name": "n"}
    with pytest.raises(ValidationError, match="Field required"):
        Ranked(text="x", name=ABSENT)


def test_the_schema_of_a_subclass_is_described_whatever_validators_it_has() -> None:
    class Checked(v1.ContentBlockText):
        rank: int = 1

        @field_validator("annotations", "text")
        @classmethod
        def same(cls, value: Any) -> Any:
            return value

        @model_validator(mode="wrap")
        @classmethod
        def whole(cls, data: Any, handler: Any) -> Any:
            return handler(data)

    described = Checked.model_json_schema()
    assert described["properties"].keys() == {"text", "type", "rank", "annotations", "_meta"}
    assert described["required"] == ["text", "type"]
    assert described["properties"]["rank"]["default"] == 1


def test_a_default_is_made_once_for_each_instance() -> None:
    class Noted(v1.ContentBlockText):
        notes: list[str] = Field(default_factory=list)

    value = Noted(text="x")
    value.notes.append("n")
    assert value.notes == ["n"]
    assert value.model_dump()["notes"] == ["n"]
    assert Noted(text="x").notes == []
    assert value.model_fields_set == {"text", "type"}


def test_the_configuration_of_a_subclass_is_its_own() -> None:
    class Closed(v1.ContentBlockText):
        model_config = ConfigDict(extra="forbid")

    class Careless(v1.ContentBlockText):
        model_config = ConfigDict(extra="ignore", strict=False, str_strip_whitespace=True, frozen=False)
        rank: int = 0

    class Open(v1.ContentBlockText, extra="allow"):
        pass

    with pytest.raises(ValidationError):
        Closed.model_validate_json('{"text":"x","type":"text","more":1}')
    value = Careless(text=" x ", rank="3", more=1)
    assert value.model_dump() == {"text": "x", "type": "text", "rank": 3}
    value.rank = 4
    assert value.rank == 4
    assert Open(text="x", more=1).model_dump() == {"text": "x", "type": "text", "more": 1}
    with pytest.raises(ValidationError):
        v1.ContentBlockText(text="x", more=1)


def test_an_alias_of_a_field_is_a_keyword_and_a_key() -> None:
    class Traced(v1.ContentBlockText):
        trace_id: str = Field(alias="x-trace")
        span: str = Field(default="s", validation_alias="in", serialization_alias="out")

    value = Traced(text="x", trace_id="t")
    assert value == Traced(**{"text": "x", "x-trace": "t"})
    assert value.model_dump() == {"text": "x", "type": "text", "x-trace": "t", "out": "s"}
    assert Traced.model_validate_json('{"text":"x","type":"text","x-trace":"t","in":"s"}') == value


def test_init_subclass_and_class_variables_work_as_in_any_class() -> None:
    class Registered(v1.ContentBlockText):
        known: ClassVar[list[str]] = []
        rank: ClassVar[int] = 1

        def __init_subclass__(cls, *, label: str = "", **keywords: Any) -> None:
            super().__init_subclass__(**keywords)
            cls.known.append(label)

    class First(Registered, label="first"):
        rank = 2

    assert Registered.known == ["first"]
    assert (First(text="x").rank, First.rank, Registered.rank) == (2, 2, 1)
    assert "rank" not in First(text="x").model_dump()


def test_an_init_of_ones_own_is_called_whether_built_or_parsed() -> None:
    class Shouted(v1.NewSessionRequest):
        _calls: list[str]

        def __init__(self, cwd: str, **keywords: Any) -> None:
            super().__init__(cwd=cwd.upper(), **keywords)

    assert Shouted("/x", mcp_servers=[]).cwd == "/X"
    parsed = Shouted.model_validate_json('{"cwd":"/x","mcpServers":[],"_meta":{"a":1},"more":2}')
    assert parsed.model_dump() == {"cwd": "/X", "mcpServers": [], "_meta": {"a": 1}, "more": 2}
    with pytest.raises(ValidationError, match="mcp_servers"):
        Shouted("/x")


def test_a_validator_that_returns_another_instance_is_warned_of() -> None:
    class Copied(v1.ContentBlockText):
        @model_validator(mode="after")
        def copy_it(self) -> Copied:
            return self.model_copy()

    with pytest.warns(UserWarning, match="returning a value other than `self`") as caught:
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


def test_models_of_the_users_own_need_no_generated_base() -> None:
    class Ping(Model):
        seq: int
        note: str | None = None
        sent_by: str = "me"

    class Bag(OpenModel):
        seq: int

    assert Ping(seq=1).model_dump() == {"seq": 1, "sentBy": "me"}
    assert Ping.model_validate_json('{"seq":1,"new":2}').model_dump() == {"seq": 1, "sentBy": "me", "new": 2}
    with pytest.raises(ValidationError):
        Ping(seq=1, new=2)
    assert Bag(seq=1, new=2).model_dump() == {"seq": 1, "new": 2}


def test_a_created_model_is_a_subclass_like_any_other() -> None:
    made: Any = create_model("Made", __base__=v1.ContentBlockText, rank=(int, 1))
    assert made(text="x").model_dump() == {"text": "x", "type": "text", "rank": 1}


def test_a_metaclass_may_be_derived_from_that_of_models() -> None:
    out = in_a_fresh_process(
        "-c",
        """
from acp_bindings.v1 import ContentBlockText, Model
from acp_bindings.v1 import models
class Meta(type(models.Model)):
    def __new__(mcs, name, bases, namespace, **keywords):
        return super().__new__(mcs, name, bases, namespace, **keywords)
class Sub(ContentBlockText, metaclass=Meta):
    rank: int = 1
print(type(Sub).__name__, Sub(text="x").model_dump_json())
""".replace(", Model\n", "\n"),
    )
    assert out == 'Meta {"text":"x","type":"text","rank":1}'


@pytest.mark.slow
def test_many_threads_may_make_and_use_the_same_subclass_of_a_fresh_class() -> None:
    code = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from pydantic import field_validator, model_validator
from acp_bindings.v1 import models
sys.setswitchinterval(1e-6)
together = Barrier(8)
def subclass(base):
    class Sub(base):
        volume: int = 11
        _seen: int = 1
        @field_validator("content")
        @classmethod
        def same(cls, value): return value
        @model_validator(mode="after")
        def whole(self): return self
    return Sub
def ask(number):
    together.wait()
    mine = subclass(models.SessionUpdateUserMessageChunk)
    text = models.ContentBlockText(text="x")
    built = [cls(content=text).model_dump_json() for cls in (mine, mine)]
    return built[0], mine.model_validate_json(built[1]).model_dump_json()
def share(sub):
    def use(number):
        together.wait()
        built = sub(content=models.ContentBlockText(text="x")).model_dump_json()
        return built, sub.model_validate_json(built).model_dump_json()
    return use
with ThreadPoolExecutor(8) as pool:
    answers = {*pool.map(ask, range(8))} | {*pool.map(share(subclass(models.SessionUpdateAgentMessageChunk)), range(8))}
for answer in sorted({text for pair in answers for text in pair}):
    print(answer)
"""
    start = '{"content":{"text":"x","type":"text"},"sessionUpdate":'
    expected = [f'{start}"{kind}_message_chunk","volume":11}}' for kind in ("agent", "user")]
    for _ in range(3):
        assert in_a_fresh_process("-c", code).splitlines() == expected


class Editable(v1.ToolCall, frozen=False, validate_assignment=True):
    rank: int = 0

    @field_validator("title")
    @classmethod
    def strip(cls, value: str) -> str:
        return value.strip()


@pytest.mark.parametrize(
    "made",
    [
        lambda: Editable(tool_call_id="1", title="t"),
        lambda: Editable.model_validate_json('{"toolCallId":"1","title":"t"}'),
    ],
)
def test_what_is_assigned_is_what_the_constructor_takes(made: Any) -> None:
    value = made()
    value.title = " u "
    value.kind = "read"
    value.locations = (v1.ToolCallLocation(path="/a"),)
    value.rank = 1
    wire = {"toolCallId": "1", "title": "u", "kind": "read", "locations": [{"path": "/a"}], "rank": 1}
    assert value.model_dump() == wire
    for name, wrong in {
        "kind": 5,
        "locations": [{"path": "/a"}],
        "title": None,
        "rank": "x",
        "tool_call_id": ABSENT,
    }.items():
        with pytest.raises(ValidationError) as caught:
            setattr(value, name, wrong)
        assert caught.value.title == "Editable"
        assert [each["loc"][0] for each in caught.value.errors()] == [name]
    assert value.model_dump() == wire
    value.kind = ABSENT
    assert value.kind is None
    assert value.model_dump() == {name: each for name, each in wire.items() if name != "kind"}
    assert "kind" not in value.model_fields_set


def test_an_instance_that_is_not_frozen_takes_what_is_assigned_as_any_model_does() -> None:
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
    with pytest.raises(ValueError, match=r"Loose\.title is required: assign a value instead of ABSENT"):
        value.title = ABSENT
    with pytest.raises(ValidationError, match="frozen"):
        v1.ToolCall(tool_call_id="1", title="t").title = "u"  # type: ignore[misc]
