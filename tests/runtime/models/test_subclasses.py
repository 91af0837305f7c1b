"""All ways to define a subclass of a generated class work, whether its base was used before or not."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Generic, TypeVar

import pytest
from pydantic import (
    Field,
    PydanticUserError,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from acp_bindings import v1
from acp_runtime import Model, OpenModel, absent
from tests.support.models.fresh_process import run_code

T = TypeVar("T")


def test_a_subclass_can_be_in_a_module_without_the_future_import() -> None:
    run_code(
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


def test_a_subclass_in_a_function_can_use_its_local_names() -> None:
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


def test_an_undefined_annotation_is_reported_when_an_instance_is_built() -> None:
    class Lost(v1.ContentBlockText):
        left: Nowhere  # noqa: F821

    with pytest.raises(PydanticUserError, match="`Lost` is not fully defined"):
        Lost(text="x")


def test_a_subclass_of_a_subclass_has_the_declarations_of_both() -> None:
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


def test_mixins_add_fields_and_methods() -> None:
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


def test_create_model_makes_a_subclass() -> None:
    created: Any = create_model("Made", __base__=v1.ContentBlockText, rank=(int, 1))
    assert created(text="x").model_dump() == {"text": "x", "type": "text", "rank": 1}


def test_a_subclass_can_have_a_metaclass_derived_from_that_of_models() -> None:
    printed = run_code(
        """
from acp_bindings.v1 import ContentBlockText
class Meta(type(ContentBlockText)):
    def __new__(mcs, name, bases, namespace, **keywords):
        return super().__new__(mcs, name, bases, namespace, **keywords)
class Sub(ContentBlockText, metaclass=Meta):
    rank: int = 1
print(type(Sub).__name__, Sub(text="x").model_dump_json())
"""
    )
    assert printed == 'Meta {"text":"x","type":"text","rank":1}'


@pytest.mark.slow
def test_many_threads_can_make_and_use_subclasses_of_the_same_unused_class() -> None:
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
def define_and_use(number):
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
    printed = {*pool.map(define_and_use, range(8))}
    printed |= {*pool.map(share(subclass(models.SessionUpdateAgentMessageChunk)), range(8))}
for text in sorted({text for pair in printed for text in pair}):
    print(text)
"""
    start = '{"content":{"text":"x","type":"text"},"sessionUpdate":'
    expected = [f'{start}"{kind}_message_chunk","volume":11}}' for kind in ("agent", "user")]
    for _ in range(3):
        assert run_code(code).splitlines() == expected
