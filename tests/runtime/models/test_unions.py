"""A known tag selects its member or is an error. An unknown tag selects `<Union>Other`, with the whole payload."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from acp_bindings import v1
from acp_runtime.models.markers import NotNull, SkipInvalidItems
from acp_runtime.models.model import OpenModel
from acp_runtime.models.unions import FirstMatch
from tests.support.models.oracle import same_json
from tests.support.models.shapes import Sample, Samples, Shape


def bad_payloads(samples: Samples, sample: Sample) -> list[dict[str, Any]]:
    """Return the instance with one required property other than the tag set to an invalid value without a fallback."""
    broken: list[dict[str, Any]] = []
    for key in sorted(sample.shape.required - sample.shape.tags.keys()):
        wrongs: list[Any] = [{"wrong": []}, 7, None]
        for wrong in wrongs:
            instance = {**sample.instance, key: wrong}
            tolerated = samples.oracle.with_fallbacks(sample.schema, instance)
            if not samples.oracle.is_valid(sample.schema, tolerated):
                broken.append(instance)
    return broken


def test_a_known_tag_with_an_invalid_payload_is_an_error(samples: Samples) -> None:
    tagged = [sample for sample in samples.all() if sample.shape.tags]
    broken = [(sample, instance) for sample in tagged for instance in bad_payloads(samples, sample)]
    assert len(broken) > len(tagged)
    for sample, instance in broken:
        with pytest.raises(ValidationError):
            samples.parse(sample, instance)


def test_a_known_tag_selects_the_class_of_that_tag(samples: Samples) -> None:
    for sample in samples.all():
        value = samples.parse(sample, sample.instance)
        fields = type(value).model_fields
        tags = {field.alias: getattr(value, name) for name, field in fields.items() if field.alias in sample.shape.tags}
        assert tags == sample.shape.tags
        if tags or sample.shape.open_tag:
            assert isinstance(value, OpenModel) == (sample.shape.open_tag is not None)


def test_a_union_without_a_tag_is_read_as_the_first_member_that_fits() -> None:
    either: Any = Annotated[v1.TextContent | v1.TextResourceContents, FirstMatch]
    value = TypeAdapter(either).validate_json('{"text":"x","uri":"u"}')
    assert type(value) is v1.TextContent
    assert value.model_extra == {"uri": "u"}


def test_an_alternative_may_be_a_union_of_scalars() -> None:
    either: Any = Annotated[list[str] | Annotated[int | str, "either"], FirstMatch]
    assert TypeAdapter(either).validate_json('["a"]') == ["a"]
    assert TypeAdapter(either).validate_json("5") == 5


@pytest.mark.parametrize("marker", [SkipInvalidItems, NotNull])
def test_a_marker_for_another_type_is_refused(marker: Any) -> None:
    with pytest.raises(TypeError, match=f"{marker!r} needs a.* found 'str'"):
        TypeAdapter(Annotated[str, marker])


def test_an_unknown_tag_in_an_open_union_keeps_the_whole_payload(samples: Samples) -> None:
    opened = [sample for sample in samples.all() if sample.shape.open_tag]
    assert opened
    for sample in opened:
        payload = {"text": 7, "session_id": [None, {"deep": 1.5}], "meta": "x"}
        instance = {**sample.instance, **payload, str(sample.shape.open_tag): "_unknown_tag"}
        value = samples.parse(sample, instance)
        assert type(value).__name__.startswith(sample.shape.definition)
        assert "Other" in type(value).__name__
        unknown = {key: item for key, item in instance.items() if key not in sample.shape.properties}
        assert value.model_extra == unknown
        assert same_json(samples.dump(sample, value), instance)


def test_an_unknown_tag_in_a_closed_union_is_an_error(samples: Samples) -> None:
    everything = samples.all()
    open_definitions = {sample.shape.definition for sample in everything if sample.shape.open_tag}
    for sample in everything:
        if sample.shape.tags and sample.shape.definition not in open_definitions:
            instance = {**sample.instance, **dict.fromkeys(sample.shape.tags, "_unknown_tag")}
            if not samples.oracle.is_valid(sample.schema, instance):  # a fallback without a tag may take it
                with pytest.raises(ValidationError):
                    samples.parse(sample, instance)


def test_null_and_absent_are_different(samples: Samples) -> None:
    compared = 0
    for sample in samples.all(keys=set()):
        for key in nullable(samples, sample.shape):
            absent, null = (
                samples.parse(sample, instance) for instance in (sample.instance, {**sample.instance, key: None})
            )
            if type(absent) is type(null):  # a null may be another union member's tag
                compared += 1
                assert key not in samples.dump(sample, absent)
                assert samples.dump(sample, null)[key] is None
                assert absent != null
    assert compared > 100


def nullable(samples: Samples, shape: Shape) -> list[str]:
    optional = shape.properties.keys() - shape.required
    return sorted(key for key in optional if samples.oracle.is_valid(shape.properties[key], None))
