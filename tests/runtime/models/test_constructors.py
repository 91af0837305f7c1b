"""Constructors are strict where parsing is lenient, and an instance dumps exactly the given arguments."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from acp_bindings import v1
from acp_runtime.models.model import Model, OpenModel
from tests.runtime.models.constructor_calls import WRONG, argument_keys, constructor_calls, json_key
from tests.support.models.oracle import same_json
from tests.support.models.profiles import Profile
from tests.support.models.shapes import Sample, Samples


def raises(cls: type[Model], arguments: dict[str, Any]) -> bool:
    try:
        cls(**arguments)
    except (ValidationError, TypeError):
        return True
    return False


def test_a_built_instance_dumps_its_tag_and_equals_the_parsed_instance(samples: Samples) -> None:
    for sample, cls, arguments in constructor_calls(samples):
        value = cls(**arguments)
        assert same_json(samples.dump(sample, value), sample.instance)
        assert value == samples.parse(sample, sample.instance)


def test_optional_fields_that_are_not_given_are_not_dumped(samples: Samples) -> None:
    for sample, cls, arguments in constructor_calls(samples, keys=set()):
        assert samples.dump(sample, cls(**arguments)).keys() == sample.shape.required


def test_none_for_a_nullable_field_dumps_null(samples: Samples) -> None:
    for sample, cls, arguments in constructor_calls(samples, keys=set()):
        names = {field.alias: name for name, field in cls.model_fields.items()}
        for key, schema in sample.shape.properties.items():
            if key not in sample.shape.required and samples.oracle.is_valid(schema, None):
                assert samples.dump(sample, cls(**arguments, **{names[key]: None})) == {**sample.instance, key: None}


def test_none_for_a_field_that_cannot_be_null_is_left_out_or_an_error(samples: Samples) -> None:
    for sample, cls, arguments in constructor_calls(samples, keys=set()):
        names = {field.alias: name for name, field in cls.model_fields.items()}
        for key, schema in sample.shape.properties.items():
            if not samples.oracle.is_valid(schema, None) and key in argument_keys(sample):
                with_none = {**arguments, names[key]: None}
                if not raises(cls, with_none):
                    assert key not in sample.shape.required
                    assert key not in samples.dump(sample, cls(**with_none))


def test_a_misspelt_keyword_raises_unless_the_class_is_open(samples: Samples) -> None:
    for _, cls, arguments in constructor_calls(samples):
        assert raises(cls, {**arguments, "titel": "x"}) != issubclass(cls, OpenModel)


def test_json_keys_are_not_keywords(samples: Samples) -> None:
    for _, cls, arguments in constructor_calls(samples):
        for name in [name for name in arguments if name != json_key(cls, name)]:
            key = json_key(cls, name)
            renamed = {**arguments, key: arguments[name]}
            del renamed[name]
            if cls.model_fields[name].is_required() or not issubclass(cls, OpenModel):
                assert raises(cls, renamed), (cls, key)


def test_a_missing_required_keyword_raises(samples: Samples) -> None:
    for _, cls, arguments in constructor_calls(samples):
        for name in arguments:
            if cls.model_fields[name].is_required():
                assert raises(cls, {key: item for key, item in arguments.items() if key != name}), (cls, name)


def test_a_value_that_json_cannot_hold_raises_in_every_field_with_a_type(samples: Samples) -> None:
    for sample, cls, arguments in constructor_calls(samples):
        for name in arguments:
            if not takes_any_json(samples, sample, cls, name):
                assert raises(cls, {**arguments, name: object()}), (cls, name)


def test_an_invalid_list_item_raises(samples: Samples) -> None:
    tried = 0
    for sample, cls, arguments in constructor_calls(samples):
        for name, value in arguments.items():
            items = sample.shape.properties[json_key(cls, name)].get("items")
            for wrong in [wrong for wrong in WRONG if items and not samples.oracle.is_valid(items, wrong)]:
                tried += 1
                assert raises(cls, {**arguments, name: [*(value or []), wrong]}), (cls, name, wrong)
    assert tried > 100


def test_a_dict_may_stand_for_a_model_if_the_constructor_of_that_takes_it() -> None:
    block = v1.ContentBlockResourceLink(name="n", uri="u", mime_type="t")
    named = {"type": "resource_link", "name": "n", "uri": "u", "mime_type": "t"}
    given: Any = {**named}
    assert v1.PromptRequest(session_id="s", prompt=[given]).prompt[0].model_dump() == block.model_dump()
    for wrong in (block.model_dump(), {**named, "more": 1}, {**named, "annotations": "wrong"}):
        with pytest.raises(ValidationError):
            v1.PromptRequest(session_id="s", prompt=[wrong])


def test_parsing_tolerates_a_value_that_the_constructor_refuses(profile: Profile) -> None:
    models: Any = profile.module
    with pytest.raises(ValidationError):
        models.TextContent(text="x", annotations="wrong")
    assert models.TextContent.model_validate_json('{"text": "x", "annotations": "wrong"}') == models.TextContent(
        text="x"
    )


def takes_any_json(samples: Samples, sample: Sample, cls: type[Model], name: str) -> bool:
    schema = sample.shape.properties[json_key(cls, name)]
    return all(samples.oracle.is_valid(schema, wrong) for wrong in WRONG)
