"""Error messages for a value that isn't an instance of the expected classes, with what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from acp_runtime.models.json_values import as_object
from acp_runtime.models.tags import tags_of
from acp_runtime.models.union_members import concrete_models
from acp_runtime.models.words import one_of

Classes: TypeAlias = Sequence[type[BaseModel]]

# With more candidates than this, no class is suggested.
_MAX_SUGGESTIONS = 3


def wrong_instance_message(value: Any, classes: Classes) -> str:
    """Return what is wrong with a value, and what to write instead if that can be guessed."""
    json = as_object(value)
    intended, advice = _advice_for_object(value, classes) if json is None else _advice_for_json(json, classes)
    expected = one_of([cls.__name__ for cls in intended or classes])
    message = f"Input should be an instance of {expected}, not {_class_name(value, intended)}"
    return f"{message}: {advice}" if advice else message


def _class_name(value: Any, intended: Classes) -> str:
    """Return the name of a value's class, with its module if an intended class has the same name."""
    cls: Any = value.__class__
    is_ambiguous = any(cls.__name__ == each.__name__ for each in intended)
    return f"{cls.__module__}.{cls.__name__}" if is_ambiguous else cls.__name__


def _advice_for_object(value: Any, classes: Classes) -> tuple[Classes, str]:
    """Return the classes that were probably intended for a value that isn't a dict, and what to write."""
    namesakes = [cls for cls in classes if cls.__name__ == type(value).__name__]
    if namesakes:
        return namesakes, f"import it from {namesakes[0].__module__.removesuffix('.models')}"
    derived = [cls for cls in classes if isinstance(value, BaseModel) and type(value) in cls.__mro__]
    if 0 < len(derived) <= _MAX_SUGGESTIONS:
        calls = one_of([f"{cls.__name__}(...)" for cls in derived])
        return derived, f"write {calls} with the same arguments"
    wrapping = {cls: name for cls in classes if (name := _wrapping_field(value, cls)) is not None}
    if 0 < len(wrapping) <= (1 if isinstance(value, str) else _MAX_SUGGESTIONS):
        return list(wrapping), "write " + one_of([f"{cls.__name__}({name}=...)" for cls, name in wrapping.items()])
    return [], ""


def _advice_for_json(value: dict[Any, Any], classes: Classes) -> tuple[Classes, str]:
    """Return the classes that were probably intended for a dict, and what to write."""
    tagged = [cls for cls in classes if any(_item(value, cls, name) == tag for name, tag in tags_of(cls).items())]
    if len(tagged or classes) > 1:
        return tagged, "build one of these, or parse decoded JSON with model_validate"
    name = (tagged or classes)[0].__name__
    return tagged, f"write {name}(...), or {name}.model_validate(...) for decoded JSON"


def _item(value: dict[Any, Any], cls: type[BaseModel], name: str) -> Any:
    return value.get(cls.model_fields[name].alias, value.get(name))


def _wrapping_field(value: Any, cls: type[BaseModel]) -> str | None:
    """Return the only field that a class requires, if the value fits in it."""
    tags = tags_of(cls)
    required = {name: field for name, field in cls.model_fields.items() if field.is_required() and name not in tags}
    if len(required) != 1:
        return None
    name, field = next(iter(required.items()))
    is_text = isinstance(value, str) and field.annotation is str
    return name if is_text or isinstance(value, tuple(concrete_models(_annotated(field)))) else None


def _annotated(field: FieldInfo) -> Any:
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
