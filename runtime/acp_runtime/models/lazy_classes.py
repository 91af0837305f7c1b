"""Model classes that cost next to nothing until they are used.

A profile has hundreds of models, a process uses a few dozen. A class statement of a generated module makes an empty
class and defers the rest. When something is first asked of the class, its annotations are evaluated and pydantic
builds it, in place. Every other class, a subclass of a deferred one included, is built at once and by pydantic alone.

What is relied on of Python: that `from __future__ import annotations` leaves strings in a class body's
`__annotations__`, and that unions, generic aliases and class statements ask a class for nothing but `_ASKED`.
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

# What every class has of its own.
_OF_OTHERS: dict[str, Any] = {BUILD: staticmethod(build_first_instance)}
_OF_GENERATED: dict[str, Any] = {**_OF_OTHERS, GENERATED: True}

# What can be asked of a deferred class without building it.
_ASKED = frozenset({"__bases__", "__class__", "__module__", "__mro__", "__name__", "__qualname__"})

_lock = RLock()
_builders: dict[type, int] = {}
"""The classes that are being built, and the thread that does it."""


class DeferredMeta(ModelMetaclass, InPlaceMeta):
    """The metaclass of a class that isn't built yet: builds it as soon as something is asked of it.

    The base of `ModelMeta`, so that a subclass of a deferred class may have a metaclass derived from that.
    """

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any) -> type:
        """Create a class; a deferred one in a generated module."""
        own = _OF_OTHERS
        if is_generated_module(namespace["__module__"]):
            if not keywords and can_build_in_place():
                return _defer(mcs, name, bases, namespace)
            own = _OF_GENERATED
        keep_local_names(namespace, keywords)
        _apply_configured_extra(namespace, keywords)
        for base in bases:
            build(base)
        made_by: Any = ModelMeta if mcs is DeferredMeta else mcs
        made: Any = super().__new__(made_by, name, bases, {**namespace, HIDDEN: own}, **keywords)
        if BUILD not in vars(made):  # pydantic made the class by itself
            _add(made, own)
        older_pydantic.set_initial_serializer(made)
        return cast("type", made)

    __signature__: SignatureOfModel = SignatureOfModel()

    def __getattribute__(cls, name: str, /) -> Any:
        if name not in _ASKED and _builders.get(cls) != get_ident():
            build(cls)
        return type.__getattribute__(cls, name)


class ModelMeta(DeferredMeta):
    """The metaclass of models."""

    if not TYPE_CHECKING:
        __getattribute__ = type.__getattribute__


def _apply_configured_extra(namespace: dict[str, Any], keywords: dict[str, Any]) -> None:
    """Have a constructor allow further keywords if its class says so itself: what is inherited is for parsing alone."""
    configured = {**namespace.get("model_config", {}), **keywords}
    if "extra" in configured:
        namespace.setdefault("__acp_open__", configured["extra"] == "allow")


def _add(cls: type, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        type.__setattr__(cls, name, value)


def _defer(mcs: type[type], name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
    own = {key: namespace[key] for key in ("__module__", "__qualname__")}
    names = sys.modules[namespace["__module__"]].__dict__
    cls = type.__new__(mcs, name, bases, {**own, **_OF_OTHERS, _DEFERRED: (namespace, names)})
    type.__setattr__(cls, "__class__", DeferredMeta)
    return cls


def build(cls: type) -> None:
    """Build a class if it is deferred. Other threads that ask something of it wait."""
    if type(cls) is not DeferredMeta or _builders.get(cls) == get_ident():
        return
    with _lock:
        if type(cls) is DeferredMeta:  # no other thread was faster
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
    build_in_place(ModelMeta, cls, {**namespace, "__annotations__": annotations, HIDDEN: _OF_GENERATED})
    older_pydantic.set_initial_serializer(cls)
    type.__delattr__(cls, _DEFERRED)
    type.__setattr__(cls, "__class__", ModelMeta)
