"""Assignment to the fields of a subclass that isn't frozen. It takes the same values as the constructor."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import SchemaError

from acp_runtime.models.absent import ABSENT
from acp_runtime.models.argument_errors import explain_argument_errors
from acp_runtime.models.subclasses import validator_of_arguments

_ASSIGN = "_acp_assign"


def is_handled_here(instance: Any, name: str, value: Any) -> bool:
    """Return whether `assign` has to make an assignment, because pydantic's own would be wrong."""
    cls = instance.__class__
    field = cls.__pydantic_fields__.get(name)
    if field is None or field.frozen or cls.model_config.get("frozen"):
        return False
    return value is ABSENT or bool(cls.model_config.get("validate_assignment"))


def assign(instance: Any, name: str, value: Any) -> None:
    """Assign to a field. Assigning `ABSENT` deletes the field's value.

    Raises:
        ValidationError: if the class has `validate_assignment` and its constructor refuses the value.
        ValueError: if the field is required and the value is `ABSENT`.
    """
    cls = instance.__class__
    if not cls.model_config.get("validate_assignment"):
        if cls.__pydantic_fields__[name].is_required():
            raise ValueError(f"{cls.__name__}.{name} is required: assign a value instead of ABSENT")
        _remove(instance, name)
        return
    try:
        _validate(cls)(instance, name, value)
    except ValidationError as error:
        raise explain_argument_errors(cls, error, {name: value}) from None
    except SchemaError:  # pydantic-core raises it if the value is to be omitted
        _remove(instance, name)


def _validate(cls: Any) -> Any:
    """Return the function that validates and assigns: the constructor's, which is strict, or else pydantic's."""
    if _ASSIGN not in cls.__dict__:
        validator = validator_of_arguments(cls) or cls.__pydantic_validator__
        type.__setattr__(cls, _ASSIGN, staticmethod(validator.validate_assignment))
    return getattr(cls, _ASSIGN)


def _remove(instance: Any, name: str) -> None:
    instance.__dict__.pop(name, None)
    instance.__pydantic_fields_set__.discard(name)
