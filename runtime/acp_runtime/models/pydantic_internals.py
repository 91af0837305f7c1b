"""What is relied on of pydantic's inside. No other module may import a private name of pydantic.

Where a reliance doesn't hold, models are ordinary pydantic classes that cost more. A test for each shows that it holds
on the oldest and the newest pydantic, and that models still work where it doesn't.

1. `ModelMetaclass` makes its class by `super().__new__`, so that the next metaclass in line can hand it one. Without
   that, classes of generated modules are built where they are defined.
2. `parent_frame_namespace` and `build_lenient_weakvaluedict` find the local names that the annotations of a class in a
   function refer to, and `__pydantic_parent_namespace__` keeps them. Without them such a class needs `model_rebuild()`.
3. The schema of a model is a `model` round a `model-fields`, each with nothing but validators and serializers round
   it. Without that, pydantic parses models by itself, builds those of subclasses, and dumps null for what is absent.
4. A complete class keeps its schema as `__pydantic_core_schema__`, and another is made where that is missing. Without
   that, pydantic builds the instances of subclasses by itself. What else a kept schema defines is known to what holds
   the class; without that, a union of somebody else's warns of absent fields when it is dumped.

Documented, and relied on as well: `__pydantic_complete__`, `__pydantic_decorators__`, `__pydantic_fields__`,
`__pydantic_serializer__`, which may be set before a class is complete, and `__pydantic_validator__`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel

from acp_runtime.models.json_values import as_object

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass as ModelMetaclass  # noqa: PLC0414 - exported
else:
    ModelMetaclass = type(BaseModel)


def _internal(module: str, name: str) -> Any:
    """A function of pydantic's inside, or None."""
    try:
        return getattr(import_module(f"pydantic._internal.{module}"), name, None)
    except ImportError:
        return None


_parent_frame_namespace = _internal("_typing_extra", "parent_frame_namespace")
_build_lenient_weakvaluedict = _internal("_model_construction", "build_lenient_weakvaluedict")

Schema: TypeAlias = Any

HIDDEN = "__acp_hidden__"
"""The key of a class's namespace for what to add to the class after pydantic has looked at that."""

_EXISTING = "__acp_existing__"
_LOCAL_NAMES = "__pydantic_parent_namespace__"
_FIND_LOCAL_NAMES = "__pydantic_reset_parent_namespace__"
_SCHEMA = "__pydantic_core_schema__"

_without_schema = RLock()
_takes_local_names = _FIND_LOCAL_NAMES in getattr(getattr(ModelMetaclass.__new__, "__code__", None), "co_varnames", ())


class InPlaceMeta(type):
    """Last in line before `type`: fills in an existing class, and adds what pydantic is not to see."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any) -> Any:
        """Create a class, or fill in the existing one."""
        existing: type | None = namespace.pop(_EXISTING, None)
        namespace.update(namespace.pop(HIDDEN, {}))
        if existing is None:
            return super().__new__(mcs, name, bases, namespace, **keywords)
        for key, value in namespace.items():
            type.__setattr__(existing, key, value)
        return existing


def build_in_place(mcs: type, existing: type, namespace: dict[str, Any]) -> Any:
    """Have pydantic make of an existing, empty class what it makes of a new one with this namespace."""
    bound: dict[str, Any] = {**namespace, _EXISTING: existing}
    keywords: dict[str, Any] = {_FIND_LOCAL_NAMES: False} if _takes_local_names else {}
    return ModelMetaclass.__new__(mcs, existing.__name__, existing.__bases__, bound, **keywords)


@cache
def can_build_in_place() -> bool:
    """Whether `build_in_place` works."""

    class Probe(ModelMetaclass, InPlaceMeta):
        """What a metaclass of models is."""

    empty: Any = type.__new__(Probe, "Empty", (BaseModel,), {})
    namespace: dict[str, Any] = {
        "__module__": __name__,
        "__annotations__": {"field": int},
        "model_config": {"defer_build": True},
    }
    try:
        return build_in_place(Probe, empty, namespace) is empty and list(empty.__pydantic_fields__) == ["field"]
    except Exception:
        return False


def keep_local_names(namespace: dict[str, Any], keywords: dict[str, Any]) -> None:
    """Keep the names of the function that a class statement stands in. Called by the metaclass's `__new__`.

    pydantic looks for them in the caller of its own `__new__`, which is the metaclass here.
    """
    if _FIND_LOCAL_NAMES in keywords or not _takes_local_names:
        return
    if _parent_frame_namespace and _build_lenient_weakvaluedict:
        namespace[_LOCAL_NAMES] = _build_lenient_weakvaluedict(_parent_frame_namespace(parent_depth=3))
        keywords[_FIND_LOCAL_NAMES] = False


def model_of(schema: Schema) -> Schema | None:
    """The `model` in a model's schema, within whatever validators and serializers stand round it."""
    return _first_within(schema, "model")


def fields_of(schema: Schema) -> Schema | None:
    """The `model-fields` in a model's schema."""
    model = model_of(schema)
    return None if model is None else _first_within(model.get("schema"), "model-fields")


def _first_within(schema: Schema, kind: str) -> Schema | None:
    while schema is not None and schema.get("type") != kind:
        schema = schema.get("schema")
    return schema


def kept_definitions(cls: type) -> list[Schema]:
    """The definitions in the schema that a complete class keeps."""
    schema = as_object(cls.__dict__.get(_SCHEMA)) or {}
    definitions: list[Schema] = schema.get("definitions", [])
    return definitions


@contextmanager
def without_schema(cls: type) -> Generator[None]:
    """While this lasts, the schema of a class is made anew when it is asked for."""
    with _without_schema:
        schema = cls.__dict__.get(_SCHEMA)
        if schema is not None:
            type.__delattr__(cls, _SCHEMA)
        try:
            yield
        finally:
            if schema is not None:
                type.__setattr__(cls, _SCHEMA, schema)


def is_complete(cls: type) -> bool:
    """Whether pydantic has made the validator and the serializer of a class."""
    return bool(getattr(cls, "__pydantic_complete__", True))
