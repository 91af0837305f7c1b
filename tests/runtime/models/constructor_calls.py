"""The arguments that the constructors of generated classes need to rebuild parsed instances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from acp_runtime.models.model import Model
from tests.support.models.shapes import Sample, Samples

# Values to try in every field. Each type of JSON is there.
WRONG = ["text", "", 12, 2**70, 1.5, True, [], [None], ["text"], [{}], {}, {"wrong": [7]}]


def constructor_calls(
    samples: Samples, keys: set[str] | None = None
) -> Iterator[tuple[Sample, type[Model], dict[str, Any]]]:
    """Yield each sample with its class and the arguments that build the same value."""
    for sample in samples.all(keys):
        value = samples.parse(sample, sample.instance)
        yield sample, type(value), _arguments(sample, value)


def json_key(cls: type[Model], name: str) -> str:
    """Return the JSON key of a field."""
    alias = cls.model_fields[name].alias
    assert alias is not None
    return alias


def argument_keys(sample: Sample) -> set[str]:
    """Return the JSON keys of the arguments: all properties except the constant tags."""
    return sample.shape.properties.keys() - sample.shape.tags.keys()


def _arguments(sample: Sample, value: Model) -> dict[str, Any]:
    aliases = {name: field.alias for name, field in type(value).model_fields.items()}
    given = [name for name in value.model_fields_set if aliases.get(name) in argument_keys(sample)]
    return {name: getattr(value, name) for name in given}
