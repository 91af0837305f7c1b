"""Schemas of models as mere instance checks, for constructors, which take models only as instances."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pydantic_core import core_schema

from acp_runtime.models.dumping import unfiltered_declared_serializer
from acp_runtime.models.pydantic_internals import Schema

_constructed: ContextVar[type | None] = ContextVar("acp_runtime.constructed", default=None)


@contextmanager
def instances_only(constructed: type) -> Generator[None]:
    """Within this context, the schema of every model except the constructed one is an instance check."""
    token = _constructed.set(constructed)
    try:
        yield
    finally:
        _constructed.reset(token)


def instance_schema(*classes: type) -> Schema | None:
    """Return an instance check for these classes within `instances_only`; None elsewhere."""
    if not classes or _constructed.get() is None or is_constructed(*classes):
        return None
    return is_instance(*classes)


def is_constructed(*classes: type) -> bool:
    """Return whether the schema of this class is made for its constructor."""
    return classes == (_constructed.get(),)


def is_instance(*classes: type) -> Schema:
    """Return a schema that takes instances of these classes."""
    allowed: Any = classes[0] if len(classes) == 1 else classes
    names = " or ".join(cls.__name__ for cls in classes)
    serialization = unfiltered_declared_serializer(*classes)
    return core_schema.is_instance_schema(allowed, cls_repr=names, serialization=serialization)
