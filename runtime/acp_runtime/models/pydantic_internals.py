"""Everything that depends on pydantic's internals. Only this module and `older_pydantic` import private names of it.

If an assumption doesn't hold, models are ordinary pydantic classes that cost more. Tests show that each one holds on
the oldest and the newest supported pydantic, and that models work without it.

1. `ModelMetaclass` makes its class by `super().__new__`, so that the next metaclass can return an existing class.
   Otherwise, classes of generated modules are built where they are defined.
2. `parent_frame_namespace` and `build_lenient_weakvaluedict` find the local names that the annotations of a class in a
   function refer to, and `__pydantic_parent_namespace__` keeps them. Otherwise, such a class needs `model_rebuild()`.
3. The schema of a model is a `model` around a `model-fields`, with only validators and serializers around each.
   Otherwise, pydantic parses models and builds instances of subclasses by its own rules, and dumps null for absent
   fields.
4. A complete class keeps its schema as `__pydantic_core_schema__`, and pydantic makes a new one if that is missing.
   Otherwise, pydantic builds instances of subclasses by its own rules. The definitions in a kept schema are available
   to models that use the class. Otherwise, dumping a union in a user's model warns of absent fields.

Documented attributes that are used as well: `__pydantic_complete__`, `__pydantic_decorators__`, `__pydantic_fields__`,
`__pydantic_serializer__`, which can be set before a class is complete, and `__pydantic_validator__`.
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
    """Return an internal function of pydantic; None if there is none."""
    try:
        return getattr(import_module(f"pydantic._internal.{module}"), name, None)
    except ImportError:
        return None


_parent_frame_namespace = _internal("_typing_extra", "parent_frame_namespace")
_build_lenient_weakvaluedict = _internal("_model_construction", "build_lenient_weakvaluedict")

Schema: TypeAlias = Any

HIDDEN = "__acp_hidden__"
"""The key in the namespace of a new class for attributes that pydantic must not inspect."""

_EXISTING = "__acp_existing__"
_LOCAL_NAMES = "__pydantic_parent_namespace__"
_FIND_LOCAL_NAMES = "__pydantic_reset_parent_namespace__"
_SCHEMA = "__pydantic_core_schema__"

_without_schema = RLock()
_takes_local_names = _FIND_LOCAL_NAMES in getattr(getattr(ModelMetaclass.__new__, "__code__", None), "co_varnames", ())


class InPlaceMeta(type):
    """The last metaclass before `type`. Fills in an existing class, and adds the attributes hidden from pydantic."""

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
    """Let pydantic build an existing, empty class as if it were new and had this namespace."""
    bound: dict[str, Any] = {**namespace, _EXISTING: existing}
    keywords: dict[str, Any] = {_FIND_LOCAL_NAMES: False} if _takes_local_names else {}
    return ModelMetaclass.__new__(mcs, existing.__name__, existing.__bases__, bound, **keywords)


@cache
def can_build_in_place() -> bool:
    """Return whether `build_in_place` works."""

    class Probe(ModelMetaclass, InPlaceMeta):
        """A metaclass like that of models."""

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
    """Keep the local names around a class statement. To be called by the metaclass's `__new__`.

    pydantic looks for them in the caller of its own `__new__`, which would be that metaclass.
    """
    if _FIND_LOCAL_NAMES in keywords or not _takes_local_names:
        return
    if _parent_frame_namespace and _build_lenient_weakvaluedict:
        namespace[_LOCAL_NAMES] = _build_lenient_weakvaluedict(_parent_frame_namespace(parent_depth=3))
        keywords[_FIND_LOCAL_NAMES] = False


def model_of(schema: Schema) -> Schema | None:
    """Return the `model` in a model's schema, inside any validators and serializers."""
    return _first_inside(schema, "model")


def fields_of(schema: Schema) -> Schema | None:
    """Return the `model-fields` in a model's schema."""
    model = model_of(schema)
    return None if model is None else _first_inside(model.get("schema"), "model-fields")


def _first_inside(schema: Schema, kind: str) -> Schema | None:
    while schema is not None and schema.get("type") != kind:
        schema = schema.get("schema")
    return schema


def kept_definitions(cls: type) -> list[Schema]:
    """Return the definitions in the schema that a complete class keeps."""
    schema = as_object(cls.__dict__.get(_SCHEMA)) or {}
    definitions: list[Schema] = schema.get("definitions", [])
    return definitions


@contextmanager
def without_schema(cls: type) -> Generator[None]:
    """Within this context, pydantic makes a new schema for a class instead of using the kept one."""
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
    """Return whether pydantic has made the validator and the serializer of a class."""
    return bool(getattr(cls, "__pydantic_complete__", True))
