"""Model classes that are deferred until their first use.

A profile has hundreds of models, and a process uses a few dozen of them. A class statement in a generated module makes
an empty class. When one of its attributes is first read, its annotations are evaluated and pydantic builds the class in
place. All other classes, including subclasses of deferred ones, are built by their class statement.

This relies on two facts about Python: `from __future__ import annotations` leaves strings in a class body's
`__annotations__`; and unions, generic aliases and class statements read only attributes in `_READ_UNBUILT`, which don't
build the class.
"""

from __future__ import annotations

import sys
from threading import RLock, get_ident
from typing import TYPE_CHECKING, Any, cast

from acp_runtime.models import older_pydantic
from acp_runtime.models.constructors import BUILD
from acp_runtime.models.first_instance import build_first_instance
from acp_runtime.models.generated import GENERATED, is_generated_module
from acp_runtime.models.pydantic_internals import (
    HIDDEN,
    InPlaceMeta,
    ModelMetaclass,
    build_in_place,
    can_build_in_place,
    keep_local_names,
)
from acp_runtime.models.signatures import SignatureOfModel

_DEFERRED = "__acp_deferred__"

# Attributes that each class gets for itself.
_OWN: dict[str, Any] = {BUILD: staticmethod(build_first_instance)}
_OWN_GENERATED: dict[str, Any] = {**_OWN, GENERATED: True}

# Attributes of a deferred class that can be read without building it.
_READ_UNBUILT = frozenset({"__bases__", "__class__", "__module__", "__mro__", "__name__", "__qualname__"})

_lock = RLock()
_builders: dict[type, int] = {}
"""The classes that are being built, each with the thread that builds it."""


class DeferredMeta(ModelMetaclass, InPlaceMeta):
    """The metaclass of a deferred class. It builds the class when one of its attributes is read.

    It is the base of `ModelMeta`, so that a subclass of a deferred class can have a metaclass derived from `ModelMeta`.
    """

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any) -> type:
        """Create a class, deferred if it is in a generated module."""
        own = _OWN
        if is_generated_module(namespace["__module__"]):
            if not keywords and can_build_in_place():
                return _defer(mcs, name, bases, namespace)
            own = _OWN_GENERATED
        keep_local_names(namespace, keywords)
        _apply_configured_extra(namespace, keywords)
        for base in bases:
            build(base)
        metaclass: Any = ModelMeta if mcs is DeferredMeta else mcs
        cls: Any = super().__new__(metaclass, name, bases, {**namespace, HIDDEN: own}, **keywords)
        if BUILD not in vars(cls):  # pydantic didn't call `InPlaceMeta.__new__`
            _set_attributes(cls, own)
        older_pydantic.set_initial_serializer(cls)
        return cast("type", cls)

    __signature__: SignatureOfModel = SignatureOfModel()

    def __getattribute__(cls, name: str, /) -> Any:
        if name not in _READ_UNBUILT and _builders.get(cls) != get_ident():
            build(cls)
        return type.__getattribute__(cls, name)


class ModelMeta(DeferredMeta):
    """The metaclass of built models."""

    if not TYPE_CHECKING:
        __getattribute__ = type.__getattribute__


def _apply_configured_extra(namespace: dict[str, Any], keywords: dict[str, Any]) -> None:
    """Let a constructor take extra keywords if its own class allows them. A base's `extra` is for parsing only."""
    configured = {**namespace.get("model_config", {}), **keywords}
    if "extra" in configured:
        namespace.setdefault("__acp_open__", configured["extra"] == "allow")


def _set_attributes(cls: type, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        type.__setattr__(cls, name, value)


def _defer(mcs: type[type], name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
    shown = {key: namespace[key] for key in ("__module__", "__qualname__")}
    names = sys.modules[namespace["__module__"]].__dict__
    cls = type.__new__(mcs, name, bases, {**shown, **_OWN, _DEFERRED: (namespace, names)})
    type.__setattr__(cls, "__class__", DeferredMeta)
    return cls


def build(cls: type) -> None:
    """Build a class if it is deferred. Other threads that use it wait."""
    if type(cls) is not DeferredMeta or _builders.get(cls) == get_ident():
        return
    with _lock:
        if type(cls) is DeferredMeta:  # no other thread has built it meanwhile
            _builders[cls] = get_ident()
            try:
                _build(cls)
            finally:
                del _builders[cls]


def _build(cls: type) -> None:
    for base in cls.__bases__:
        build(base)
    namespace, names = type.__getattribute__(cls, "__dict__")[_DEFERRED]
    texts: dict[str, str] = namespace.get("__annotations__", {})
    types = eval(f"[{','.join(texts.values())}]", names)  # one expression compiles faster than many
    annotations = dict(zip(texts, types, strict=True))
    build_in_place(ModelMeta, cls, {**namespace, "__annotations__": annotations, HIDDEN: _OWN_GENERATED})
    older_pydantic.set_initial_serializer(cls)
    type.__delattr__(cls, _DEFERRED)
    type.__setattr__(cls, "__class__", ModelMeta)
