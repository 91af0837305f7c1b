"""What a schema is being made for: a connection, a generated class, or a user's code.

A generated class sets how its fields are validated and dumped. In a user's model, pydantic may put a generated class
into a union of its own, so the schema of the class there brings its serializer along. The schema for completing a
class can't: the serializer would call itself.
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
    """Within this context, schemas are made to complete a class."""
    token = _completed.set(cls)
    try:
        yield
    finally:
        _completed.reset(token)


@contextmanager
def held_by(cls: type) -> Generator[None]:
    """Within this context, schemas are made for the fields of a class."""
    token = _holder.set(cls)
    try:
        yield
    finally:
        _holder.reset(token)


@contextmanager
def receiving() -> Generator[None]:
    """Within this context, schemas are made for the messages that a connection receives."""
    token = _received.set(True)
    try:
        yield
    finally:
        _received.reset(token)


def is_received() -> bool:
    """Return whether a schema is made for the messages that a connection receives."""
    return _received.get()


def is_in_user_code() -> bool:
    """Return whether a schema is made for a field of a user's class, or for no field at all."""
    return not is_generated(_holder.get())


def is_for_user_code(cls: type) -> bool:
    """Return whether the schema of a class is made for a user's model or type adapter."""
    completed = _completed.get()
    return completed is None or (completed is not cls and not is_generated(completed))


def for_user_code(cls: type, schema: Schema) -> Schema:
    """Return the schema of a class with its serializer. If the class is complete, also for the models in its fields."""
    definitions = {
        each["ref"]: ours for each in kept_definitions(cls) if (ours := _our_model_for_user_code(each)) is not None
    }
    with_serializer = _with_own_serializer(cls, schema)
    definitions.pop(schema.get("ref"), None)
    if not definitions:
        return with_serializer
    return {"type": "definitions", "schema": with_serializer, "definitions": list(definitions.values())}


def was_made_for_user_code(schema: Schema) -> bool:
    """Return whether the schema of a complete class came from `for_user_code`."""
    top = schema["schema"] if schema["type"] == "definitions" else schema
    function = top.get("serialization", {}).get("function")
    return isinstance(getattr(function, "__self__", None), AsDeclared)


def _our_model_for_user_code(schema: Schema) -> Schema | None:
    """Return the schema with its serializer if it is that of a `Model`; None otherwise."""
    model = model_of(schema)
    return _with_own_serializer(model["cls"], schema) if model is not None and hasattr(model["cls"], BUILD) else None


def _with_own_serializer(cls: type, schema: Schema) -> Schema:
    if "serialization" in schema:  # of a subclass with a model_serializer
        return schema
    return {**schema, "serialization": declared_serializer(cls, for_user_code=True)}
