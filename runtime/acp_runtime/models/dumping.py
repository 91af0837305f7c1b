"""How a model that something else holds is dumped: as the class that is declared there.

pydantic dumps what a field holds by the field's type: an instance of a subclass goes out without what that adds. So it
is here, in unions, too. In a union of somebody else's, pydantic tries one member after the other and takes an
absent field for a sign that the value belongs to another one; what is dumped apart from the rest is not counted.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, PydanticSerializationUnexpectedValue, core_schema
from pydantic_core.core_schema import SerSchema

from acp_runtime.models import older_pydantic
from acp_runtime.models.json_values import as_array

# What a serializer hands on to the model that it meets. Not every version of pydantic has all of them.
_PASSED_ON: Final = (
    "by_alias",
    "context",
    "exclude",
    "exclude_computed_fields",
    "exclude_defaults",
    "exclude_none",
    "exclude_unset",
    "include",
    "mode",
    "round_trip",
    "serialize_as_any",
)


class AsDeclared:
    """Makes the instances of classes, and of their subclasses, look like what is declared."""

    def __init__(self, classes: tuple[type, ...]) -> None:
        self._classes = frozenset(classes)
        self.names: str = " or ".join(cls.__name__ for cls in classes)

    def __call__(self, value: Any) -> Any:
        """A value as an instance of one of the classes, and of none of their subclasses.

        Raises:
            PydanticSerializationUnexpectedValue: if it is no instance of any. pydantic makes it a warning.
        """
        cls = value.__class__
        if cls in self._classes:
            return value
        for base in cls.__mro__:
            if base in self._classes:
                return _seen_as(base, value)
        raise older_pydantic.Unexpected(f"Expected an instance of {self.names}, found {cls.__name__}")

    def within(self, value: Any) -> Any:
        """The instances in a value that may be anything else, too."""
        items = as_array(value)
        if items is not None:
            return [self.within(each) for each in items]
        return self(value) if isinstance(value, tuple(self._classes)) else value

    def filtered(self, value: Any, info: Any) -> Any:
        """The same where a caller may have said which fields of a value to include or to exclude."""
        declared = self(value)
        return declared if info.include is None and info.exclude is None else _dumped(declared, info)

    def apart(self, value: Any, info: Any) -> Any:
        """A value as pydantic dumps it by itself."""
        try:
            return _dumped(self(value), info)
        except PydanticSerializationError as error:
            raise PydanticSerializationUnexpectedValue(str(error)) from None


def declared_serializer(*classes: type, for_user_code: bool) -> SerSchema:
    """How a value is dumped that is an instance of one of these classes. Anything else is dumped with a warning.

    Args:
        classes: what is declared.
        for_user_code: whether it is held by somebody else's model.
    """
    declared = AsDeclared(classes)
    function = declared.apart if for_user_code else declared.filtered
    return core_schema.plain_serializer_function_ser_schema(function, info_arg=True)


def unfiltered_declared_serializer(*classes: type) -> SerSchema:
    """The same without a look at what is included or excluded, which takes twice as long."""
    if older_pydantic.keeps_shallow_serializer():
        return core_schema.plain_serializer_function_ser_schema(AsDeclared(classes).filtered, info_arg=True)
    declared, known = AsDeclared(classes), frozenset(classes)

    def dump(value: Any) -> Any:
        return value if value.__class__ in known else declared(value)

    return core_schema.plain_serializer_function_ser_schema(dump)


def nested_declared_serializer(*classes: type) -> SerSchema:
    """How a value is dumped that may be anything, and hold instances of these classes in lists."""
    if not classes:
        return core_schema.simple_ser_schema("any")
    declared = AsDeclared(classes)

    def dump(value: Any, dump_it: Any) -> Any:
        return dump_it(declared.within(value))

    return core_schema.wrap_serializer_function_ser_schema(dump, schema=core_schema.any_schema())


def _dumped(value: BaseModel, info: Any) -> Any:
    options: dict[str, Any] = {name: getattr(info, name) for name in _PASSED_ON if hasattr(info, name)}
    return value.model_dump(**options, warnings="error")


def _seen_as(cls: Any, value: BaseModel) -> Any:
    """An instance as one of a base of its class."""
    fields: dict[str, Any] = cls.__pydantic_fields__
    seen = object.__new__(cls)
    state = {
        "__dict__": {name: item for name, item in vars(value).items() if name in fields},
        "__pydantic_extra__": value.__pydantic_extra__,
        "__pydantic_fields_set__": value.__pydantic_fields_set__ & fields.keys(),
        "__pydantic_private__": value.__pydantic_private__,
    }
    for name, item in state.items():
        object.__setattr__(seen, name, item)
    return seen
