"""Python's introspection works as for any pydantic model, even as the first use of a class."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from pydantic import Field

from acp_bindings import v1
from acp_runtime import Model, OpenModel
from acp_runtime.models.union_members import tag_of
from tests.support.models.profiles import Profile
from tests.support.models.shapes import Samples


def test_a_signature_has_a_keyword_for_each_field(profile: Profile) -> None:
    for cls in profile.models.values():
        parameters = inspect.signature(cls).parameters
        shown = {
            parameter.name: parameter
            for parameter in parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        }
        assert {parameter.kind for parameter in shown.values()} <= {inspect.Parameter.KEYWORD_ONLY}
        assert list(shown) == list(cls.model_fields)
        assert (len(shown) < len(parameters)) == issubclass(cls, OpenModel)
        for name, field in cls.model_fields.items():
            required = field.is_required() and tag_of(field) is None
            assert (shown[name].default is inspect.Parameter.empty) == required, (cls, name)


def test_a_signature_has_the_parameters_of_a_custom_init() -> None:
    class Short(v1.ContentBlockText):
        def __init__(self, text: str, *, loud: bool = False, **keywords: Any) -> None:
            super().__init__(text=text.upper() if loud else text, **keywords)

    class Shorter(v1.ContentBlockText):
        def __init__(self, text: str) -> None:
            super().__init__(text=text)

    assert list(inspect.signature(Short).parameters) == ["text", "annotations", "meta", "type", "loud"]
    assert list(inspect.signature(Shorter).parameters) == ["text"]


def test_a_signature_shows_types_and_defaults() -> None:
    class Open(OpenModel):
        count: int = 3
        names: list[str] = Field(default_factory=list)

        def __init__(self, text: str, **keywords: Any) -> None:
            super().__init__(**keywords)

    assert str(inspect.signature(Open)) == (
        "(text: 'str', *, count: int = 3, names: list[str] = Ellipsis, **extra_data: 'Any') -> None"
    )


def test_an_instance_that_can_be_called_has_its_own_signature() -> None:
    class Callable(v1.ContentBlockText):
        def __call__(self, times: int) -> str:
            return self.text * times

    assert list(inspect.signature(Callable(text="x")).parameters) == ["times"]


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")
def test_dir_of_an_instance_includes_absent_fields() -> None:
    value = v1.ContentBlockText(text="x")
    assert {"text", "annotations", "meta", "type", "model_dump"} <= {*dir(value)}
    assert dict(inspect.getmembers(value, lambda member: not callable(member)))["annotations"] is None


def test_a_hash_agrees_with_equality_and_models_with_lists_have_none(samples: Samples) -> None:
    hashed = 0
    for sample in samples.all():
        value, again = (samples.parse(sample, sample.instance) for _ in range(2))
        assert value == again
        if is_mutable(value):
            with pytest.raises(TypeError, match="unhashable type"):
                hash(value)
        else:
            hashed += 1
            assert hash(value) == hash(again)
    assert hashed > 50


def is_mutable(value: Any) -> bool:
    if isinstance(value, Model):
        return any(map(is_mutable, value.__dict__.values()))  # unknown keys count for equality only
    return isinstance(value, (list, dict))
