"""What a schema is made for: a connection, a generated class, or anything that somebody else wrote.

A generated class knows how its fields are validated and dumped. In anybody else's model a model of ours may be the
member of a union that pydantic makes, so there it brings along how it is dumped. A class that is completed can't: it
would never end.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from acp_runtime.models.constructors import BUILD
from acp_runtime.models.dumping import AsDeclared, declared_serializer
from acp_runtime.models.generated import is_generated
from acp_runtime.models.pydantic_internals import Schema, kept_definitions, model_of

_completed: ContextVar[type | None] = ContextVar("acp_runtime.completed", default=None)
_received: ContextVar[bool] = ContextVar("acp_runtime.received", default=False)
_holder: ContextVar[type] = ContextVar("acp_runtime.holder", default=object)


@contextmanager
def completing(cls: type) -> Generator[None]:
    """While this lasts, schemas are made to complete a class."""
    token = _completed.set(cls)
    try:
        yield
    finally:
        _completed.reset(token)


@contextmanager
def held_by(cls: type) -> Generator[None]:
    """While this lasts, schemas are made for the fields of a class."""
    token = _holder.set(cls)
    try:
        yield
    finally:
        _holder.reset(token)


@contextmanager
def receiving() -> Generator[None]:
    """While this lasts, schemas are made for what a connection receives."""
    token = _received.set(True)
    try:
        yield
    finally:
        _received.reset(token)


def is_received() -> bool:
    """Whether a schema is made for what a connection receives."""
    return _received.get()


def is_in_user_code() -> bool:
    """Whether a schema is made for a field of a class that isn't generated, or for no field at all."""
    return not is_generated(_holder.get())


def is_for_user_code(cls: type) -> bool:
    """Whether the schema of a class is made for something that isn't generated."""
    completed = _completed.get()
    return completed is None or (completed is not cls and not is_generated(completed))


def for_user_code(cls: type, schema: Schema) -> Schema:
    """The schema of a class for anything that isn't generated. So are those of what it holds, if it is complete."""
    held = {each["ref"]: made for each in kept_definitions(cls) if (made := _our_model_for_user_code(each)) is not None}
    apart = _with_own_serializer(cls, schema)
    held.pop(schema.get("ref"), None)
    return {"type": "definitions", "schema": apart, "definitions": list(held.values())} if held else apart


def was_made_for_user_code(schema: Schema) -> bool:
    """Whether the schema of a complete class is one that was made for others."""
    top = schema["schema"] if schema["type"] == "definitions" else schema
    function = top.get("serialization", {}).get("function")
    return isinstance(getattr(function, "__self__", None), AsDeclared)


def _our_model_for_user_code(schema: Schema) -> Schema | None:
    """The schema of a model of ours for others; None if it is anybody else's."""
    model = model_of(schema)
    return _with_own_serializer(model["cls"], schema) if model is not None and hasattr(model["cls"], BUILD) else None


def _with_own_serializer(cls: type, schema: Schema) -> Schema:
    if "serialization" in schema:  # the author of a subclass has said how it is dumped
        return schema
    return {**schema, "serialization": declared_serializer(cls, for_user_code=True)}
