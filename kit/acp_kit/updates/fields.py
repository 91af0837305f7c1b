"""The fields that an update gives, and the values of the state that it sets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from acp_runtime import ABSENT, Model
from acp_runtime.updates import Effect, Sets


def given_fields(model: Any) -> dict[str, Any]:
    """Return the fields of a model that aren't absent.

    Iterating over a model also gives the keys that the schema doesn't know, and a peer may name one like a field.
    """
    return {name: value for name, value in cast("dict[str, Any]", vars(model)).items() if value is not ABSENT}


def given_values(update: Model, *, without: Collection[str]) -> dict[str, Any]:
    """Return the given fields of an update without some, and the keys unknown to the schema."""
    fields = type(update).model_fields
    unknown = {name: value for name, value in (update.model_extra or {}).items() if name not in fields}
    return unknown | {name: value for name, value in given_fields(update).items() if name not in without}


def values_of(table: Mapping[str, Effect], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that updates set, by name.

    Args:
        table: what each kind of update does, by its tag.
        settings: the last update of each kind, by tag.
    """
    values: dict[str, Any] = {}
    for tag, update in settings.items():
        for name, field in cast("Sets", table[tag]).fields.items():
            value: Any = getattr(update, field) if field else update
            values[name] = tuple(value) if value.__class__ is list else value
    return values
