"""What pydantic before 2.14.2 needs. Goes away, with all that refers to it, when pyproject.toml allows no such version.

From 2.13.0 to 2.14.1, pydantic-core swallows a key of JSON that is named like a field and not like its alias (`meta`,
`mime_type`). A field with such an alias catches it, and what it caught is put where unknown keys are.

Before 2.14, pydantic-core can't dump what a model holds if the class of that isn't complete, and completing a class
takes its serializer away meanwhile, so that other threads dump instances by that of its base.

Before 2.13, built instances have no `__pydantic_extra__` where a constructor forbids further keywords, and what is
wrong deep in a model is dumped without a warning. So the serializer of a generated class stays the one that looks at
its own fields alone, and raises. That of anybody's subclass is pydantic's.
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

# What is raised where a value is dumped that doesn't belong there.
Unexpected: type[ValueError] = PydanticSerializationError if _BEFORE_2_13 else PydanticSerializationUnexpectedValue


_SWALLOWS_KEYS = (2, 13) <= _version < (2, 14, 2)
_CATCHER = "\0"
"""How the names of fields begin that catch a key."""


class _Nothing:
    """What no value is."""


def forbid_extra(fields: Any, *, has_room: bool = False) -> None:
    """Have the fields of a constructor refuse further keywords, while instances have room for what is parsed.

    Args:
        fields: their schema, which is changed.
        has_room: whether an instance that was built has room for what is assigned to it later.
    """
    if not _BEFORE_2_13 and not has_room:
        fields["extra_behavior"] = "forbid"
        return
    nothing = core_schema.is_instance_schema(_Nothing)
    fields["extra_behavior"] = "allow"
    fields["extras_schema"] = core_schema.custom_error_schema(nothing, custom_error_type="extra_forbidden")


def keep_keys_named_like_fields(fields: Any) -> None:
    """Have the fields of a class parsed so that a key like the name of a field is an unknown key as any other."""
    aliases: list[Any] = [field.get("validation_alias", name) for name, field in fields["fields"].items()]
    keys = {_CATCHER + name: name for name in fields["fields"] if name not in aliases}
    if not _SWALLOWS_KEYS or not keys:
        return
    anything = core_schema.with_default_schema(core_schema.any_schema(), default=None)
    catching = {
        name: core_schema.model_field(anything, validation_alias=key, serialization_exclude=True)
        for name, key in keys.items()
    }
    caught: Any = {**fields, "fields": {**fields["fields"], **catching}}
    fields.clear()
    fields.update(core_schema.no_info_after_validator_function(partial(_put_with_unknown_keys, keys), caught))


def is_real_field(name: str) -> bool:
    """Whether a field in a schema is one that the class has."""
    return not name.startswith(_CATCHER)


def _put_with_unknown_keys(keys: dict[str, str], parsed: Any) -> Any:
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
    """Give a new class a serializer that completes the class."""
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
    """Complete a class, as pydantic does from 2.14 on."""
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
    """pydantic's, in such a way that other threads may use the class meanwhile.

    Args:
        shallow_serializer: makes what dumps the instances of a generated class by its own fields alone.
    """
    return partial(_model_rebuild, shallow_serializer) if _BEFORE_2_14 else _rebuild_by_pydantic


def keeps_shallow_serializer() -> bool:
    """Whether the first serializer of a generated class stays its serializer."""
    return _BEFORE_2_13
