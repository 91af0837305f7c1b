"""Model classes that cost next to nothing until they are used.

A profile has hundreds of models, a process uses a few dozen. Most of what pydantic does when a class is created
is to evaluate its annotations; here the annotations of a generated class are put aside and evaluated when its
schema is first built, or its fields are first asked for. A class of anybody else is pydantic's as usual.

What is relied on: that `from __future__ import annotations` leaves strings in a class body's `__annotations__`, that
pydantic collects fields from there, and that `__pydantic_fields__` is where they are kept.
"""

from __future__ import annotations

import sys
from copy import copy
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

_PUT_ASIDE = "__acp_declared__"


class LazyFieldsMeta(ModelMetaclass):
    """The metaclass of models. A module whose classes are to be lazy says so with `__lazy_fields__ = True`."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any) -> type:
        """Create a class, and put its annotations aside if its module asks for it."""
        module = sys.modules.get(namespace.get("__module__", ""))
        declared: dict[str, tuple[str, Any]] | None = None
        if getattr(module, "__lazy_fields__", False):
            annotations = namespace.pop("__annotations__", {})
            declared = {key: (text, namespace.pop(key, ...)) for key, text in annotations.items()}
        else:
            for base in bases:
                collect_fields(base)
        cls = super().__new__(mcs, name, bases, namespace, **keywords)
        if declared is not None:
            type.__setattr__(cls, _PUT_ASIDE, declared)
        return cls

    @property
    def model_fields(cls) -> dict[str, FieldInfo]:
        """The fields by attribute name, inherited ones first."""
        return collect_fields(cls)


def collect_fields(cls: Any) -> dict[str, FieldInfo]:
    """Evaluate what was put aside for a class and its bases, once."""
    declared: dict[str, tuple[str, Any]] | None = cls.__dict__.get(_PUT_ASIDE)
    if declared is not None:
        namespace = sys.modules[cls.__module__].__dict__
        inherited = {
            name: copy(field) for base in reversed(cls.__bases__) for name, field in collect_fields(base).items()
        }
        own = {
            name: _field(eval(text, namespace), default, cls.model_config["alias_generator"](name))
            for name, (text, default) in declared.items()
        }
        cls.__annotations__ = {name: text for name, (text, _) in declared.items()}
        cls.__pydantic_fields__ = {**inherited, **own}
        type.__delattr__(cls, _PUT_ASIDE)
    return getattr(cls, "__pydantic_fields__", {})


def _field(annotation: Any, default: Any, alias: str) -> FieldInfo:
    if default is ...:
        field = FieldInfo.from_annotation(annotation)
    else:
        field = FieldInfo.from_annotated_attribute(annotation, default)
    field.alias = field.validation_alias = field.serialization_alias = alias
    return field
