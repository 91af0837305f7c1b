"""Python's door is strict: what the wire forgives, a constructor call doesn't; and it dumps what was said, no more."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from acp_runtime.models.model import Model, OpenModel
from tests.support.models.constructor_calls import WRONG, built, known, wire_of
from tests.support.models.oracle import same_json
from tests.support.models.profiles import Profile
from tests.support.models.shapes import Sample, Samples


def raises(cls: type[Model], arguments: dict[str, Any]) -> bool:
    try:
        cls(**arguments)
    except (ValidationError, TypeError):
        return True
    return False


def test_a_constructor_call_dumps_its_tag_and_equals_what_is_parsed(samples: Samples) -> None:
    for sample, cls, arguments in built(samples):
        value = cls(**arguments)
        assert same_json(samples.dump(sample, value), sample.instance)
        assert value == samples.parse(sample, sample.instance)


def test_optional_fields_that_are_left_alone_are_not_dumped(samples: Samples) -> None:
    for sample, cls, arguments in built(samples, keys=set()):
        assert samples.dump(sample, cls(**arguments)).keys() == sample.shape.required


def test_none_passed_to_a_nullable_field_dumps_null(samples: Samples) -> None:
    for sample, cls, arguments in built(samples, keys=set()):
        names = {field.alias: name for name, field in cls.model_fields.items()}
        for key, schema in sample.shape.properties.items():
            if key not in sample.shape.required and samples.oracle.is_valid(schema, None):
                assert samples.dump(sample, cls(**arguments, **{names[key]: None})) == {**sample.instance, key: None}


def test_none_passed_to_a_field_that_can_not_be_null_is_left_out_or_an_error(samples: Samples) -> None:
    for sample, cls, arguments in built(samples, keys=set()):
        names = {field.alias: name for name, field in cls.model_fields.items()}
        for key, schema in sample.shape.properties.items():
            if not samples.oracle.is_valid(schema, None) and key in known(sample):
                with_none = {**arguments, names[key]: None}
                if not raises(cls, with_none):
                    assert key not in sample.shape.required
                    assert key not in samples.dump(sample, cls(**with_none))


def test_a_misspelt_keyword_raises_except_where_it_is_payload(samples: Samples) -> None:
    for _, cls, arguments in built(samples):
        assert raises(cls, {**arguments, "titel": "x"}) != issubclass(cls, OpenModel)


def test_the_keys_of_the_wire_are_no_keywords(samples: Samples) -> None:
    for _, cls, arguments in built(samples):
        for name in [each for each in arguments if each != wire_of(cls, each)]:
            key = wire_of(cls, name)
            renamed = {**arguments, key: arguments[name]}
            del renamed[name]
            if cls.model_fields[name].is_required() or not issubclass(cls, OpenModel):
                assert raises(cls, renamed), (cls, key)


def test_a_missing_required_keyword_raises(samples: Samples) -> None:
    for _, cls, arguments in built(samples):
        for name in arguments:
            if cls.model_fields[name].is_required():
                assert raises(cls, {key: item for key, item in arguments.items() if key != name}), (cls, name)


def test_a_value_that_the_schema_does_not_allow_raises_in_every_field(samples: Samples) -> None:
    tried = 0
    for sample, cls, arguments in built(samples):
        for name in arguments:
            schema = sample.shape.properties[wire_of(cls, name)]
            for wrong in [each for each in WRONG if not samples.oracle.is_valid(schema, each)]:
                tried += 1
                assert raises(cls, {**arguments, name: wrong}), (cls, name, wrong)
    assert tried > 1_000


def test_a_value_of_no_json_type_raises_in_every_field_with_a_type(samples: Samples) -> None:
    for sample, cls, arguments in built(samples):
        for name in arguments:
            if not takes_any_json(samples, sample, cls, name):
                assert raises(cls, {**arguments, name: object()}), (cls, name)


def test_a_bad_list_item_raises(samples: Samples) -> None:
    tried = 0
    for sample, cls, arguments in built(samples):
        for name, value in arguments.items():
            items = sample.shape.properties[wire_of(cls, name)].get("items")
            for wrong in [each for each in WRONG if items and not samples.oracle.is_valid(items, each)]:
                tried += 1
                assert raises(cls, {**arguments, name: [*(value or []), wrong]}), (cls, name, wrong)
    assert tried > 100


def test_a_dict_instead_of_a_model_instance_raises(samples: Samples) -> None:
    tried = 0
    for sample, cls, arguments in built(samples):
        for name, value in arguments.items():
            if isinstance(value, Model) and not takes_any_json(samples, sample, cls, name):
                tried += 1
                assert raises(cls, {**arguments, name: value.model_dump()}), (cls, name)
            if isinstance(value, list) and value and isinstance(value[0], Model):
                tried += 1
                assert raises(cls, {**arguments, name: [*value, value[0].model_dump()]}), (cls, name)
    assert tried > 30


def test_the_wire_forgives_what_the_constructor_refuses(profile: Profile) -> None:
    models: Any = profile.module
    with pytest.raises(ValidationError):
        models.TextContent(text="x", annotations="wrong")
    assert models.TextContent.model_validate_json('{"text": "x", "annotations": "wrong"}') == models.TextContent(
        text="x"
    )


def takes_any_json(samples: Samples, sample: Sample, cls: type[Model], name: str) -> bool:
    schema = sample.shape.properties[wire_of(cls, name)]
    return all(samples.oracle.is_valid(schema, each) for each in WRONG)
