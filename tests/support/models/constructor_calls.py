"""What the constructors of generated classes have to be called with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from acp_runtime.models.model import Model
from tests.support.models.shapes import Sample, Samples

WRONG = ["text", "", 12, 2**70, 1.5, True, [], [None], ["text"], [{}], {}, {"wrong": [7]}]


def keywords(sample: Sample, value: Model) -> dict[str, Any]:
    """What the constructor has to be called with to build a parsed value."""
    return {name: getattr(value, name) for name in value.model_fields_set if wire(value, name) in known(sample)}


def known(sample: Sample) -> set[str]:
    """The keys of an instance that are constructor keywords: its properties without the constant tags."""
    return sample.shape.properties.keys() - sample.shape.tags.keys()


def wire(value: Model, name: str) -> str | None:
    field = type(value).model_fields.get(name)
    return field.alias if field else None


def built(samples: Samples, keys: set[str] | None = None) -> Iterator[tuple[Sample, type[Model], dict[str, Any]]]:
    for sample in samples.all(keys):
        value = samples.parse(sample, sample.instance)
        yield sample, type(value), keywords(sample, value)


def wire_of(cls: type[Model], name: str) -> str:
    alias = cls.model_fields[name].alias
    assert alias is not None
    return alias
