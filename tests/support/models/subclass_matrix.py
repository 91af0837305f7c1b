"""Tries everything that a subclass can declare, on many generated classes in one process.

Run it as a program with two arguments: `fresh` or `used`, whether each class was used before it gets its subclass; and
`built` or `parsed`, how the first instance of the subclass is made. It prints a line for each failure.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    Field,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    computed_field,
    create_model,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from acp_runtime.jsonrpc.encoding import dump

PROFILES = ["v1", "v1_unstable", "v2_draft", "v2_draft_unstable"]


@dataclass
class Base:
    """A generated class: its name, a field with text, and arguments and JSON keys for its other required fields."""

    name: str
    text: str
    others: dict[str, str] = field(default_factory=dict)
    tag: dict[str, str] = field(default_factory=dict)
    payload: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)

    def arguments(self, text: str) -> dict[str, Any]:
        return {self.text: text, **self.others, **self.payload}

    def wire(self, text: Any) -> dict[str, Any]:
        others = {self.keys.get(name, name): value for name, value in self.others.items()}
        return {self.text: text, **others, **self.tag, **self.payload}


MIME: dict[str, Any] = {"others": {"mime_type": "a/b"}, "keys": {"mime_type": "mimeType"}}
PAYLOAD: dict[str, Any] = {"payload": {"_more": [1, None, {"x": None}]}}

BASES = {
    "plain": [
        Base("EnvVariable", "name", {"value": "v"}),
        Base("HttpHeader", "value", {"name": "v"}),
        Base("Implementation", "name", {"version": "v"}),
        Base("TextResourceContents", "text", {"uri": "v"}),
        Base("SessionConfigSelectOption", "name", {"value": "v"}),
        Base("EnumOption", "title", {"const": "v"}),
    ],
    "tagged": [
        Base("ContentBlockText", "text", tag={"type": "text"}),
        Base("ContentBlockImage", "data", tag={"type": "image"}, **MIME),
        Base("ContentBlockAudio", "data", tag={"type": "audio"}, **MIME),
        Base("ContentBlockResourceLink", "name", {"uri": "v"}, {"type": "resource_link"}),
        Base("ElicitationPropertySchemaString", "title", tag={"type": "string"}),
    ],
    "open": [
        Base("CreateElicitationResponseOther", "action", **PAYLOAD),
        Base("ElicitationPropertySchemaOther", "type", **PAYLOAD),
        Base("MultiSelectItemsOther", "type", **PAYLOAD),
        Base("ContentBlockOther", "type", **PAYLOAD),
        Base("ToolCallContentOther", "type", **PAYLOAD),
        Base("RequestPermissionSubjectOther", "type", **PAYLOAD),
    ],
}

Make = Callable[[Any, str], Any]


@dataclass
class Kind:
    """A declaration to try, and its effects: what the text "some" is read and dumped as, and the JSON that it adds."""

    make: Make
    read: Any = "some"
    dumped: Any = "some"
    added: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    refuses: bool = False  # whether it refuses the text "refused"


KINDS: dict[str, Kind] = {}


def kind(**expected: Any) -> Callable[[Make], Make]:
    def remember(make: Make) -> Make:
        KINDS[make.__name__] = Kind(make, **expected)
        return make

    return remember


@kind(read="SOME", dumped="SOME")
def validator_before(base: Any, name: str) -> Any:
    class Sub(base):
        @field_validator(name, mode="before")
        @classmethod
        def upper(cls, value: Any) -> Any:
            return value.upper()

    return Sub


@kind(read="SOME", dumped="SOME")
def validator_after(base: Any, name: str) -> Any:
    class Sub(base):
        @field_validator(name)
        @classmethod
        def upper(cls, value: Any) -> Any:
            return value.upper()

    return Sub


@kind(read="SOME", dumped="SOME")
def validator_wrap(base: Any, name: str) -> Any:
    class Sub(base):
        @field_validator(name, mode="wrap")
        @classmethod
        def upper(cls, value: Any, handler: Any) -> Any:
            return handler(value).upper()

    return Sub


@kind(read="SOME", dumped="SOME")
def validator_plain(base: Any, name: str) -> Any:
    class Sub(base):
        @field_validator(name, mode="plain")
        @classmethod
        def upper(cls, value: Any) -> Any:
            return value.upper()

    return Sub


@kind(read="SOME", dumped="SOME")
def model_before(base: Any, name: str) -> Any:
    class Sub(base):
        @model_validator(mode="before")
        @classmethod
        def upper(cls, data: Any) -> Any:
            return {**data, name: data[name].upper()} if isinstance(data, dict) else data

    return Sub


@kind(refuses=True)
def model_wrap(base: Any, name: str) -> Any:
    class Sub(base):
        @model_validator(mode="wrap")
        @classmethod
        def check(cls, data: Any, handler: Any) -> Any:
            value = handler(data)
            if getattr(value, name) == "refused":
                raise ValueError("refused")
            return value

    return Sub


@kind(refuses=True)
def model_after(base: Any, name: str) -> Any:
    class Sub(base):
        @model_validator(mode="after")
        def check(self) -> Any:
            if getattr(self, name) == "refused":
                raise ValueError("refused")
            return self

    return Sub


@kind(dumped="SOME")
def serializer(base: Any, name: str) -> Any:
    class Sub(base):
        @field_serializer(name)
        def upper(self, value: Any) -> str:
            return str(value).upper()

    return Sub


@kind(added={"more": 1})
def serializer_of_model(base: Any, name: str) -> Any:
    class Sub(base):
        @model_serializer(mode="wrap")
        def add(self, handler: Any) -> dict[str, Any]:
            return {**handler(self), "more": 1}

    return Sub


@kind(added={"size": 4}, attributes={"size": 4})
def computed(base: Any, name: str) -> Any:
    class Sub(base):
        @computed_field
        @property
        def size(self) -> int:
            return len(getattr(self, name))

    return Sub


@kind(attributes={"_seen": 3, "_made": [1]})
def private(base: Any, name: str) -> Any:
    class Sub(base):
        _seen: int = 3
        _made: list[int] = PrivateAttr(default_factory=lambda: [1])

    return Sub


@kind(attributes={"_noted": "some"})
def post_init(base: Any, name: str) -> Any:
    class Sub(base):
        _noted: Any = None

        def model_post_init(self, context: Any, /) -> None:
            self._noted = getattr(self, name)

    return Sub


@kind(attributes={"noted": ["some"]})
def post_init_alone(base: Any, name: str) -> Any:
    class Sub(base):
        noted: ClassVar[list[Any]] = []

        def model_post_init(self, context: Any, /) -> None:
            self.noted[:] = [getattr(self, name)]

    return Sub


@kind(added={"volume": 11, "loudTags": ["a"]}, attributes={"volume": 11, "loud_tags": ["a"]})
def default(base: Any, name: str) -> Any:
    class Sub(base):
        volume: int = 11
        loud_tags: list[str] = Field(default_factory=lambda: ["a"])

    return Sub


@kind(attributes={"nick_name": None})
def default_none(base: Any, name: str) -> Any:
    class Sub(base):
        nick_name: str | None = None

    return Sub


@kind(refuses=True)
def constraint(base: Any, name: str) -> Any:
    return create_model("Sub", __base__=base, **{name: (str, Field(max_length=4))})


@kind(refuses=True)
def constraint_in_annotation(base: Any, name: str) -> Any:
    return create_model("Sub", __base__=base, **{name: Annotated[str, Field(pattern="^(some|seen)$")]})


def bases_of(shape: str) -> Iterator[tuple[Any, Base]]:
    for package in PROFILES:
        models = import_module(f"acp_bindings.{package}.models")
        for base in BASES[shape]:
            if base.name in vars(models):
                yield vars(models)[base.name], base


@dataclass
class Case:
    cls: Any
    base: Base
    kind: Kind

    def run(self, first: str) -> Iterator[str]:
        steps = [("built", self.built), ("parsed", self.parsed)]
        for name, step in sorted(steps, key=lambda each: each[0] != first):
            for value in step():
                yield from (f"{name}: {fault}" for fault in self.faults(value))
        yield from self.accepts_what_it_should_refuse() if self.kind.refuses else ()

    def built(self) -> list[Any]:
        return [self.cls(**self.base.arguments("some"))]

    def parsed(self) -> list[Any]:
        wire = self.base.wire("some")
        text = json.dumps(wire)
        parent = parent_of(self.cls).model_validate_json(f'{{"child":{text},"children":[{text}]}}')
        return [
            self.cls.model_validate_json(text),
            self.cls.model_validate(wire),
            TypeAdapter(self.cls).validate_json(text),
            TypeAdapter(list[self.cls]).validate_json(f"[{text}]")[0],
            parent.child,
            parent.children[0],
        ]

    def faults(self, value: Any) -> Iterator[str]:
        if type(value) is not self.cls:
            yield f"the class is {type(value)}"
        for name, expected in {self.base.text: self.kind.read, **self.kind.attributes}.items():
            if getattr(value, name) != expected:
                yield f"{name} reads as {getattr(value, name)!r}"
        expected = {**self.base.wire(self.kind.dumped), **self.kind.added}
        for way, dumped in self.dumps(value):
            if dumped != expected:
                yield f"{way} gives {dumped}, not {expected}"

    def dumps(self, value: Any) -> Iterator[tuple[str, Any]]:
        parent = parent_of(self.cls)(child=value, children=[value])
        yield "model_dump", value.model_dump()
        yield "model_dump(mode='json')", value.model_dump(mode="json")
        yield "model_dump_json", json.loads(value.model_dump_json())
        yield "dump_python", TypeAdapter(self.cls).dump_python(value)
        yield "dump_json", json.loads(TypeAdapter(self.cls).dump_json(value))
        yield "model_dump of its parent", parent.model_dump()["child"]
        yield "model_dump_json of its parent", json.loads(parent.model_dump_json())["children"][0]
        yield "as a message", json.loads(dump(value))
        yield "as a message's part", json.loads(dump(parent))["child"]

    def accepts_what_it_should_refuse(self) -> Iterator[str]:
        text = json.dumps(self.base.wire("refused"))
        ways: dict[str, Callable[[], Any]] = {
            "built": lambda: self.cls(**self.base.arguments("refused")),
            "parsed": lambda: self.cls.model_validate_json(text),
            "in a parent": lambda: parent_of(self.cls).model_validate_json(f'{{"child":{text},"children":[]}}'),
        }
        for name, way in ways.items():
            try:
                way()
            except ValidationError:
                continue
            yield f"{name}: accepts what it should refuse"


def parent_of(cls: Any) -> Any:
    """Return a user's model with fields of a class."""
    return create_model("Parent", __base__=BaseModel, child=(cls, ...), children=(list[cls], ...))


def use(cls: Any, base: Base) -> None:
    """Build, dump and parse an instance."""
    value = cls(**base.arguments("used"))
    assert cls.model_validate_json(value.model_dump_json()) == value


def run(state: str, first: str) -> Iterator[str]:
    for shape in BASES:
        bases = bases_of(shape)
        for name, kind in KINDS.items():
            cls, base = next(bases)
            if state == "used":
                use(cls, base)
            yield from (f"{shape} {base.name}, {name}: {fault}" for fault in case_faults(cls, base, kind, first))


def case_faults(cls: Any, base: Base, kind: Kind, first: str) -> Iterator[str]:
    try:
        yield from Case(kind.make(cls, base.text), base, kind).run(first)
    except Exception as error:
        yield f"raises {type(error).__name__}: {error}"


if __name__ == "__main__":
    print(*run(*sys.argv[1:]), sep="\n")
