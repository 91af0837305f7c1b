"""Declarations that a subclass of a generated class can make, with their effects, and the classes to try them on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import (
    Field,
    PrivateAttr,
    computed_field,
    create_model,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)


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
class Declaration:
    """A declaration to try, and its effects: what the text "some" is read and dumped as, and the JSON that it adds."""

    make: Make
    read: Any = "some"
    dumped: Any = "some"
    added: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    refuses: bool = False  # whether it refuses the text "refused"


DECLARATIONS: dict[str, Declaration] = {}


def declares(**expected: Any) -> Callable[[Make], Make]:
    def remember(make: Make) -> Make:
        DECLARATIONS[make.__name__] = Declaration(make, **expected)
        return make

    return remember


@declares(read="SOME", dumped="SOME")
def validator_before(base: Any, name: str) -> Any:
    class Sub(base):
        @field_validator(name, mode="before")
        @classmethod
        def upper(cls, value: Any) -> Any:
            return value.upper()

    return Sub


@declares(read="SOME", dumped="SOME")
def validator_after(base: Any, name: str) -> Any:
    class Sub(base):
        @field_validator(name)
        @classmethod
        def upper(cls, value: Any) -> Any:
            return value.upper()

    return Sub


@declares(read="SOME", dumped="SOME")
def validator_wrap(base: Any, name: str) -> Any:
    class Sub(base):
        @field_validator(name, mode="wrap")
        @classmethod
        def upper(cls, value: Any, handler: Any) -> Any:
            return handler(value).upper()

    return Sub


@declares(read="SOME", dumped="SOME")
def validator_plain(base: Any, name: str) -> Any:
    class Sub(base):
        @field_validator(name, mode="plain")
        @classmethod
        def upper(cls, value: Any) -> Any:
            return value.upper()

    return Sub


@declares(read="SOME", dumped="SOME")
def model_before(base: Any, name: str) -> Any:
    class Sub(base):
        @model_validator(mode="before")
        @classmethod
        def upper(cls, data: Any) -> Any:
            return {**data, name: data[name].upper()} if isinstance(data, dict) else data

    return Sub


@declares(refuses=True)
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


@declares(refuses=True)
def model_after(base: Any, name: str) -> Any:
    class Sub(base):
        @model_validator(mode="after")
        def check(self) -> Any:
            if getattr(self, name) == "refused":
                raise ValueError("refused")
            return self

    return Sub


@declares(dumped="SOME")
def serializer(base: Any, name: str) -> Any:
    class Sub(base):
        @field_serializer(name)
        def upper(self, value: Any) -> str:
            return str(value).upper()

    return Sub


@declares(added={"more": 1})
def serializer_of_model(base: Any, name: str) -> Any:
    class Sub(base):
        @model_serializer(mode="wrap")
        def add(self, handler: Any) -> dict[str, Any]:
            return {**handler(self), "more": 1}

    return Sub


@declares(added={"size": 4}, attributes={"size": 4})
def computed(base: Any, name: str) -> Any:
    class Sub(base):
        @computed_field
        @property
        def size(self) -> int:
            return len(getattr(self, name))

    return Sub


@declares(attributes={"_seen": 3, "_made": [1]})
def private(base: Any, name: str) -> Any:
    class Sub(base):
        _seen: int = 3
        _made: list[int] = PrivateAttr(default_factory=lambda: [1])

    return Sub


@declares(attributes={"_noted": "some"})
def post_init(base: Any, name: str) -> Any:
    class Sub(base):
        _noted: Any = None

        def model_post_init(self, context: Any, /) -> None:
            self._noted = getattr(self, name)

    return Sub


@declares(attributes={"noted": ["some"]})
def post_init_alone(base: Any, name: str) -> Any:
    class Sub(base):
        noted: ClassVar[list[Any]] = []

        def model_post_init(self, context: Any, /) -> None:
            self.noted[:] = [getattr(self, name)]

    return Sub


@declares(added={"volume": 11, "loudTags": ["a"]}, attributes={"volume": 11, "loud_tags": ["a"]})
def default(base: Any, name: str) -> Any:
    class Sub(base):
        volume: int = 11
        loud_tags: list[str] = Field(default_factory=lambda: ["a"])

    return Sub


@declares(attributes={"nick_name": None}, added={"nickName": None})
def default_none(base: Any, name: str) -> Any:
    class Sub(base):
        nick_name: str | None = None

    return Sub


@declares(refuses=True)
def constraint(base: Any, name: str) -> Any:
    return create_model("Sub", __base__=base, **{name: (str, Field(max_length=4))})


@declares(refuses=True)
def constraint_in_annotation(base: Any, name: str) -> Any:
    return create_model("Sub", __base__=base, **{name: Annotated[str, Field(pattern="^(some|seen)$")]})
