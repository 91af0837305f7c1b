"""Model classes that cost next to nothing until they are used.

A profile has hundreds of models, a process uses a few dozen. A class statement of a generated module makes a bare class
and puts aside what pydantic would do with it, which happens when something is first asked of the class; its
annotations are evaluated later still, when its schema is first built or its fields are asked for. A class of anybody
else is pydantic's as usual.

What is relied on: that `from __future__ import annotations` leaves strings in a class body's `__annotations__`, that
pydantic collects fields from there, that `__pydantic_fields__` is where they are kept, and that pydantic's metaclass
gets the class it works on from the next metaclass in line.
"""

from __future__ import annotations

import sys
from abc import ABCMeta
from copy import copy
from threading import RLock
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from acp_runtime.constructors import BUILD, build_first

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

_BARE, _PUT_ASIDE = "__acp_bare__", "__acp_declared__"

# What can be asked of a bare class: all that unions, generic aliases and subclasses ask for.
_ASKED = frozenset({"__bases__", "__class__", "__module__", "__mro__", "__name__", "__qualname__"})

_finishing = RLock()


class _BareFirst(ABCMeta):
    """Next in line after pydantic's metaclass: gives it the bare class if there is one, instead of a new one."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any) -> Any:
        bare: type | None = namespace.pop(_BARE, None)
        if bare is None:
            return super().__new__(mcs, name, bases, namespace, **keywords)
        for key, value in namespace.items():
            type.__setattr__(bare, key, value)
        return bare


class LazyFieldsMeta(ModelMetaclass, _BareFirst):
    """The metaclass of models. A module whose classes are to be lazy says so with `__lazy_fields__ = True`."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any) -> type:
        """Create a class; a bare one if its module asks for it."""
        namespace.setdefault(BUILD, build_first)
        module = sys.modules.get(namespace.get("__module__", ""))
        if getattr(module, "__lazy_fields__", False) and not keywords:
            annotations = namespace.pop("__annotations__", {})
            declared = {key: (text, namespace.pop(key, ...)) for key, text in annotations.items()}
            return type.__new__(_Bare, name, bases, {**namespace, _PUT_ASIDE: declared})
        for base in bases:
            collect_fields(base)
        return super().__new__(mcs, name, bases, namespace, **keywords)

    @property
    def model_fields(cls) -> dict[str, FieldInfo]:
        """The fields by attribute name, inherited ones first."""
        return collect_fields(cls)


class _Bare(LazyFieldsMeta):
    """The metaclass of a class of which nothing has been asked yet."""

    def __getattribute__(cls, name: str) -> Any:
        if name not in _ASKED:
            _finish(cls)
        return type.__getattribute__(cls, name)


_in_progress: set[Any] = set()


def _finish(cls: Any) -> None:
    """Have pydantic do what it does with a new class."""
    with _finishing:
        if type(cls) is not _Bare or cls in _in_progress:
            return
        _in_progress.add(cls)
        try:
            namespace = {**type.__getattribute__(cls, "__dict__"), _BARE: cls}
            for key in ("__dict__", "__weakref__"):
                namespace.pop(key, None)
            ModelMetaclass.__new__(
                LazyFieldsMeta, cls.__name__, cls.__bases__, namespace, __pydantic_reset_parent_namespace__=False
            )
            type.__setattr__(cls, "__class__", LazyFieldsMeta)
        finally:
            _in_progress.discard(cls)


def collect_fields(cls: Any) -> dict[str, FieldInfo]:
    """The fields of a class. What was put aside for it and its bases is evaluated once."""
    if _PUT_ASIDE in cls.__dict__:
        with _finishing:
            _evaluate(cls)
    return getattr(cls, "__pydantic_fields__", {})


def _evaluate(cls: Any) -> None:
    declared: dict[str, tuple[str, Any]] | None = cls.__dict__.get(_PUT_ASIDE)
    if declared is None:  # another thread was faster
        return
    namespace = sys.modules[cls.__module__].__dict__
    inherited = {name: copy(field) for base in reversed(cls.__bases__) for name, field in collect_fields(base).items()}
    own = {
        name: _field(eval(text, namespace), default, cls.model_config["alias_generator"](name))
        for name, (text, default) in declared.items()
    }
    cls.__annotations__ = {name: text for name, (text, _) in declared.items()}
    cls.__pydantic_fields__ = {**inherited, **own}
    type.__delattr__(cls, _PUT_ASIDE)


def _field(annotation: Any, default: Any, alias: str) -> FieldInfo:
    if default is ...:
        field = FieldInfo.from_annotation(annotation)
    else:
        field = FieldInfo.from_annotated_attribute(annotation, default)
    field.alias = field.validation_alias = field.serialization_alias = alias
    return field
