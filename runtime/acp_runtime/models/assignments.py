"""Assigning to the fields of a subclass that isn't frozen: what is assigned is what its constructor takes."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import SchemaError

from acp_runtime.models.absent import ABSENT, REQUIRED
from acp_runtime.models.argument_errors import explain_argument_errors
from acp_runtime.models.subclasses import validator_of_arguments

_ASSIGN = "_acp_assign"


def is_handled_here(instance: Any, name: str, value: Any) -> bool:
    """Whether an assignment is not pydantic's business alone."""
    cls = instance.__class__
    field = cls.__pydantic_fields__.get(name)
    if field is None or field.frozen or cls.model_config.get("frozen"):
        return False
    return value is ABSENT or bool(cls.model_config.get("validate_assignment"))


def assign(instance: Any, name: str, value: Any) -> None:
    """Assign to a field. Assigning `ABSENT` is the same as deleting it.

    Raises:
        ValidationError: if the configuration wants assignments validated, and the constructor doesn't take the value.
        ValueError: if the field is required and the value is `ABSENT`.
    """
    cls = instance.__class__
    if not cls.model_config.get("validate_assignment"):
        if cls.__pydantic_fields__[name].is_required():
            raise ValueError(f"{name}: {REQUIRED}")
        _remove(instance, name)
        return
    try:
        _validate(cls)(instance, name, value)
    except ValidationError as error:
        raise explain_argument_errors(cls, error, {name: value}) from None
    except SchemaError:  # how pydantic-core says that a value is to be left out
        _remove(instance, name)


def _validate(cls: Any) -> Any:
    """What validates and assigns: the constructor's, so that nothing is forgiven here. If it has none, pydantic's."""
    if _ASSIGN not in cls.__dict__:
        validator = validator_of_arguments(cls) or cls.__pydantic_validator__
        type.__setattr__(cls, _ASSIGN, staticmethod(validator.validate_assignment))
    return getattr(cls, _ASSIGN)


def _remove(instance: Any, name: str) -> None:
    instance.__dict__.pop(name, None)
    instance.__pydantic_fields_set__.discard(name)
