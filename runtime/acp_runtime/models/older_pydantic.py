"""Workarounds for pydantic before 2.14.2. Delete them, with all references, once pyproject.toml requires 2.14.2.

From 2.13.0 to 2.14.1, pydantic-core drops a JSON key that equals the name of a field instead of its alias (`meta`,
`mime_type`). An additional field with that key as its alias catches the value, which then moves to the unknown keys.

Before 2.14, pydantic-core can't dump a model in a field if the class of that model isn't complete. And while a class is
being completed, it has no serializer, so that other threads would use the one of its base.

Before 2.13, an instance has no `__pydantic_extra__` if its constructor forbids extra keywords, and an invalid value
deep in a model is dumped without a warning. So a generated class keeps its shallow serializer, which raises. A user's
subclass has pydantic's serializer.
"""

from __future__ import annotations

import re
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any

from pydantic import VERSION, BaseModel
from pydantic_core import (
    PydanticSerializationError,
    PydanticSerializationUnexpectedValue,
    SchemaSerializer,
    core_schema,
)

from acp_runtime.models.generated import is_generated
from acp_runtime.models.pydantic_internals import is_complete

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_version = tuple(map(int, re.findall(r"\d+", VERSION)[:3]))
_BEFORE_2_14 = _version < (2, 14)
_BEFORE_2_13 = _version < (2, 13)

_lock = RLock()

_rebuild_by_pydantic: Any = vars(BaseModel)["model_rebuild"].__func__

# The error for dumping a value of a wrong class.
UnexpectedValue: type[ValueError] = PydanticSerializationError if _BEFORE_2_13 else PydanticSerializationUnexpectedValue


_DROPS_KEYS = (2, 13) <= _version < (2, 14, 2)
_CATCHER_PREFIX = "\0"
"""How the names of the additional fields begin."""


class _NoValue:
    """A class without instances."""


def forbid_extra(fields: Any, *, assignable: bool = False) -> None:
    """Make a constructor refuse extra keywords, although parsed instances keep unknown keys.

    Args:
        fields: the schema of the constructor's fields, which is changed.
        assignable: whether unknown attributes can be assigned to an instance later.
    """
    if not _BEFORE_2_13 and not assignable:
        fields["extra_behavior"] = "forbid"
        return
    no_value = core_schema.is_instance_schema(_NoValue)
    fields["extra_behavior"] = "allow"
    fields["extras_schema"] = core_schema.custom_error_schema(no_value, custom_error_type="extra_forbidden")


def keep_keys_named_like_fields(fields: Any) -> None:
    """Make a class keep a JSON key that equals the name of a field as an unknown key."""
    aliases: list[Any] = [field.get("validation_alias", name) for name, field in fields["fields"].items()]
    keys = {_CATCHER_PREFIX + name: name for name in fields["fields"] if name not in aliases}
    if not _DROPS_KEYS or not keys:
        return
    anything = core_schema.with_default_schema(core_schema.any_schema(), default=None)
    catchers = {
        name: core_schema.model_field(anything, validation_alias=key, serialization_exclude=True)
        for name, key in keys.items()
    }
    extended: Any = {**fields, "fields": {**fields["fields"], **catchers}}
    fields.clear()
    fields.update(core_schema.no_info_after_validator_function(partial(_move_to_extra, keys), extended))


def is_real_field(name: str) -> bool:
    """Return whether a field in a schema is a field of the class, not one that catches a key."""
    return not name.startswith(_CATCHER_PREFIX)


def _move_to_extra(keys: dict[str, str], parsed: Any) -> Any:
    values, extra, given = parsed
    for name, key in keys.items():
        value = values.pop(name, None)
        if name in given:
            given.discard(name)
            if extra is not None:
                given.add(key)
                extra[key] = value
    return parsed


def set_initial_serializer(cls: Any) -> None:
    """Give a new class a serializer that first completes the class."""
    if _BEFORE_2_14 and not is_complete(cls):
        cls.__pydantic_serializer__ = _COMPLETING_SERIALIZER


def _complete_and_dump(value: Any, info: Any) -> Any:
    cls = value.__class__
    if cls.__dict__.get("__pydantic_serializer__") is _COMPLETING_SERIALIZER:
        cls.model_rebuild()
    return cls.__pydantic_serializer__.to_python(
        value,
        mode=info.mode,
        include=info.include,
        exclude=info.exclude,
        by_alias=info.by_alias,
        exclude_unset=info.exclude_unset,
        exclude_defaults=info.exclude_defaults,
        exclude_none=info.exclude_none,
        round_trip=info.round_trip,
        context=info.context,
    )


_COMPLETING_SERIALIZER = SchemaSerializer(
    core_schema.any_schema(
        serialization=core_schema.plain_serializer_function_ser_schema(_complete_and_dump, info_arg=True)
    )
)


def _model_rebuild(
    shallow_serializer: Callable[[Any], SchemaSerializer],
    cls: Any,
    *,
    force: bool = False,
    raise_errors: bool = True,
    _parent_namespace_depth: int = 2,
    _types_namespace: Mapping[str, Any] | None = None,
) -> Any:
    """Complete a class as pydantic 2.14 does."""
    from pydantic._internal import _config, _model_construction, _namespace_utils, _typing_extra

    names = _types_namespace
    if names is None:
        names = _typing_extra.parent_frame_namespace(parent_depth=_parent_namespace_depth, force=True) or {}
    with _lock:
        if force:
            return _rebuild_by_pydantic(cls, force=True, raise_errors=raise_errors, _types_namespace=names)
        if is_complete(cls):
            return None
        local = _model_construction.unpack_lenient_weakvaluedict(cls.__pydantic_parent_namespace__) or {}
        completed = _model_construction.complete_model_class(
            cls,
            _config.ConfigWrapper(cls.model_config, check=False),
            _namespace_utils.NsResolver(parent_namespace={**names, **local}),
            raise_errors=raise_errors,
        )
        if completed and _BEFORE_2_13 and is_generated(cls):
            cls.__pydantic_serializer__ = shallow_serializer(cls)
    return completed


def model_rebuild(shallow_serializer: Callable[[Any], SchemaSerializer]) -> Any:
    """Return a `model_rebuild` during which other threads can use the class.

    Args:
        shallow_serializer: makes the serializer of a generated class for its own fields alone.
    """
    return partial(_model_rebuild, shallow_serializer) if _BEFORE_2_14 else _rebuild_by_pydantic


def keeps_shallow_serializer() -> bool:
    """Return whether a generated class keeps its shallow serializer when it is complete."""
    return _BEFORE_2_13
