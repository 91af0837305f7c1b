"""Serializers that dump a model inside something else as the class declared there.

pydantic dumps the value of a field by the field's type, so an instance of a subclass is dumped without the fields that
the subclass adds. The same holds here, including in unions. In a union of a user's model, pydantic tries the members
in order and takes an absent field as a sign that the value is another member's. A model that is dumped by a function
isn't judged by its fields.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, PydanticSerializationUnexpectedValue, core_schema
from pydantic_core.core_schema import SerSchema

from acp_runtime.models import older_pydantic
from acp_runtime.models.json_values import as_array

# The options that a serializer passes on to a model inside it. Older versions of pydantic lack some of them.
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
    """Converts instances of subclasses to the declared classes.

    Args:
        classes: the declared classes.
    """

    def __init__(self, classes: tuple[type, ...]) -> None:
        self._classes = frozenset(classes)
        self._names = " or ".join(cls.__name__ for cls in classes)

    def __call__(self, value: Any) -> Any:
        """Return a value as an instance of a declared class itself.

        Raises:
            PydanticSerializationUnexpectedValue: if it is an instance of none. pydantic turns it into a warning.
        """
        cls = value.__class__
        if cls in self._classes:
            return value
        for base in cls.__mro__:
            if base in self._classes:
                return _converted(base, value)
        raise older_pydantic.UnexpectedValue(f"Expected an instance of {self._names}, found {cls.__name__}")

    def convert_nested(self, value: Any) -> Any:
        """Return a value of any type with the instances in it converted, including those in lists."""
        items = as_array(value)
        if items is not None:
            return [self.convert_nested(each) for each in items]
        return self(value) if isinstance(value, tuple(self._classes)) else value

    def convert_or_dump(self, value: Any, info: Any) -> Any:
        """Convert a value for pydantic to dump, or dump it if the caller includes or excludes parts of it."""
        declared = self(value)
        return declared if info.include is None and info.exclude is None else _dumped(declared, info)

    def dump(self, value: Any, info: Any) -> Any:
        """Dump a value with its own serializer."""
        try:
            return _dumped(self(value), info)
        except PydanticSerializationError as error:
            raise PydanticSerializationUnexpectedValue(str(error)) from None


def declared_serializer(*classes: type, for_user_code: bool) -> SerSchema:
    """Return a serializer for instances of the declared classes. Anything else is dumped with a warning.

    Args:
        classes: the declared classes.
        for_user_code: whether a user's model or type adapter contains the value.
    """
    declared = AsDeclared(classes)
    function = declared.dump if for_user_code else declared.convert_or_dump
    return core_schema.plain_serializer_function_ser_schema(function, info_arg=True)


def unfiltered_declared_serializer(*classes: type) -> SerSchema:
    """Return a serializer like `declared_serializer`'s that ignores `include` and `exclude`, which halves its time."""
    if older_pydantic.keeps_shallow_serializer():
        return core_schema.plain_serializer_function_ser_schema(AsDeclared(classes).convert_or_dump, info_arg=True)
    declared, known = AsDeclared(classes), frozenset(classes)

    def convert(value: Any) -> Any:
        return value if value.__class__ in known else declared(value)

    return core_schema.plain_serializer_function_ser_schema(convert)


def nested_declared_serializer(*classes: type) -> SerSchema:
    """Return a serializer for any value, which may be or contain in lists instances of the declared classes."""
    if not classes:
        return core_schema.simple_ser_schema("any")
    declared = AsDeclared(classes)

    def dump(value: Any, handler: Any) -> Any:
        return handler(declared.convert_nested(value))

    return core_schema.wrap_serializer_function_ser_schema(dump, schema=core_schema.any_schema())


def _dumped(value: BaseModel, info: Any) -> Any:
    options: dict[str, Any] = {name: getattr(info, name) for name in _PASSED_ON if hasattr(info, name)}
    return value.model_dump(**options, warnings="error")


def _converted(base: Any, value: BaseModel) -> Any:
    """Return an instance of a subclass as an instance of its base."""
    fields: dict[str, Any] = base.__pydantic_fields__
    converted = object.__new__(base)
    state = {
        "__dict__": {name: item for name, item in vars(value).items() if name in fields},
        "__pydantic_extra__": value.__pydantic_extra__,
        "__pydantic_fields_set__": value.__pydantic_fields_set__ & fields.keys(),
        "__pydantic_private__": value.__pydantic_private__,
    }
    for name, item in state.items():
        object.__setattr__(converted, name, item)
    return converted
