"""What to write instead of a value that is no instance of the classes that belong there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from acp_runtime.models.json_values import as_object
from acp_runtime.models.union_members import concrete_models
from acp_runtime.models.words import one_of

Classes: TypeAlias = Sequence[type[BaseModel]]

# More classes than this are no advice.
_FEW = 3


def wrong_instance_message(value: Any, classes: Classes) -> str:
    """What is wrong with a value, and what to write instead."""
    json = as_object(value)
    meant, advice = _of_object(value, classes) if json is None else _of_json(json, classes)
    wanted = one_of([cls.__name__ for cls in meant or classes])
    return f"Input should be an instance of {wanted}, not {_named(value, meant)}" + (advice and f": {advice}")


def _named(value: Any, others: Classes) -> str:
    """The name of a value's class, which tells it from others."""
    cls: Any = value.__class__
    is_another = any(cls.__name__ == each.__name__ for each in others)
    return f"{cls.__module__}.{cls.__name__}" if is_another else cls.__name__


def _of_object(value: Any, classes: Classes) -> tuple[Classes, str]:
    """The classes that were probably meant by an object, and what to write."""
    namesakes = [cls for cls in classes if cls.__name__ == type(value).__name__]
    if namesakes:
        return namesakes, f"import it from {namesakes[0].__module__.removesuffix('.models')}"
    derived = [cls for cls in classes if isinstance(value, BaseModel) and type(value) in cls.__mro__]
    if 0 < len(derived) <= _FEW:
        calls = one_of([f"{cls.__name__}(...)" for cls in derived])
        return derived, f"write {calls} with the same arguments"
    wrapping = {cls: name for cls in classes if (name := _field_for(value, cls)) is not None}
    if 0 < len(wrapping) <= (1 if isinstance(value, str) else _FEW):
        return list(wrapping), "write " + one_of([f"{cls.__name__}({name}=...)" for cls, name in wrapping.items()])
    return [], ""


def _of_json(value: dict[Any, Any], classes: Classes) -> tuple[Classes, str]:
    """The same for decoded JSON."""
    meant = [cls for cls in classes if any(_given(value, cls, name) == tag for name, tag in _tags(cls))]
    if len(meant or classes) > 1:
        return meant, "constructors take no JSON"
    name = (meant or classes)[0].__name__
    return meant, f"write {name}(...), or {name}.model_validate(...) if it is JSON"


def _given(value: dict[Any, Any], cls: type[BaseModel], name: str) -> Any:
    return value.get(cls.model_fields[name].alias, value.get(name))


def _field_for(value: Any, cls: type[BaseModel]) -> str | None:
    """The one field that an instance of a class needs, if a value fits in there."""
    tags = dict(_tags(cls))
    needed = {name: field for name, field in cls.model_fields.items() if field.is_required() and name not in tags}
    if len(needed) != 1:
        return None
    name, field = next(iter(needed.items()))
    is_text = isinstance(value, str) and field.annotation is str
    return name if is_text or isinstance(value, tuple(concrete_models(_annotated(field)))) else None


def _annotated(field: FieldInfo) -> Any:
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


def _tags(cls: type[BaseModel]) -> list[tuple[str, Any]]:
    extras = [(name, field.json_schema_extra) for name, field in cls.model_fields.items()]
    return [(name, extra["const"]) for name, extra in extras if isinstance(extra, dict) and "x-tag" in extra]
