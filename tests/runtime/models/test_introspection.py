"""Python's introspection works as for any pydantic model, even as the first use of a class."""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import Any

import pytest
from pydantic import Field

from acp_bindings import v1
from acp_runtime import ABSENT, Model, OpenModel
from acp_runtime.models.tags import tag_of
from tests.support.models.fresh_process import run_code
from tests.support.models.profiles import Profile
from tests.support.models.shapes import Samples

UNUSED_CLASSES = """
from importlib import import_module
from acp_runtime import Model
models = import_module("acp_bindings.v1.models")
found = [getattr(models, name) for name in models.__all__]
found = [each for each in found if isinstance(each, type) and issubclass(each, Model)]
classes = iter(found[2:])
"""


def test_introspection_may_be_the_first_use_of_a_class() -> None:
    run_code(
        UNUSED_CLASSES
        + """
import copy, inspect, pickle, pydoc, typing, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of deprecated members of pydantic's
names = lambda cls: {*cls.model_fields}
for cls in (next(classes) for _ in range(5)):
    text = pydoc.render_doc(cls, renderer=pydoc.plaintext)
    assert all(f"{name}:" in text for name in names(cls)), text
cls = next(classes)
assert {*inspect.signature(cls).parameters} == names(cls)
cls = next(classes)
assert {*cls.__annotations__} and {*cls.__annotations__} <= names(cls)
cls = next(classes)
assert names(cls) <= {*typing.get_type_hints(cls)}
cls = next(classes)
assert names(cls) <= {*typing.get_type_hints(cls, include_extras=True)}
assert not inspect.isabstract(next(classes))
cls = next(classes)
assert inspect.getmembers(cls) and names(cls) <= {name for name, value in inspect.getmembers(cls.model_construct())}
cls = next(classes)
assert pickle.loads(pickle.dumps(cls)) is copy.deepcopy(cls) is cls
cls = next(classes)
assert inspect.getdoc(cls) == inspect.cleandoc(cls.__doc__) and inspect.getsource(cls).startswith("class ")
cls = next(classes)
assert "model_fields" in dir(cls) and repr(cls) == f"<class '{cls.__module__}.{cls.__name__}'>"
cls = next(classes)
assert inspect.get_annotations(cls) == cls.__annotations__
cls = next(classes)
assert not isinstance(3, cls) and not issubclass(int, cls) and issubclass(cls, Model)
"""
    )


def test_a_signature_has_a_keyword_for_each_field(profile: Profile) -> None:
    for cls in profile.models.values():
        parameters = inspect.signature(cls).parameters
        shown = {each.name: each for each in parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD}
        assert {each.kind for each in shown.values()} <= {inspect.Parameter.KEYWORD_ONLY}
        assert list(shown) == list(cls.model_fields)
        assert (len(shown) < len(parameters)) == issubclass(cls, OpenModel)
        for name, field in cls.model_fields.items():
            required = field.is_required() and tag_of(field) is None
            assert (shown[name].default is inspect.Parameter.empty) == required, (cls, name)


def test_a_signature_does_not_change_when_the_class_is_used() -> None:
    before = inspect.signature(v1.TerminalOutputRequest)
    v1.TerminalOutputRequest.model_rebuild()
    assert inspect.signature(v1.TerminalOutputRequest) == before
    assert list(before.parameters) == ["session_id", "terminal_id", "meta"]
    assert before.parameters["meta"].default is ABSENT


def test_a_signature_has_the_parameters_of_a_custom_init() -> None:
    class Short(v1.ContentBlockText):
        def __init__(self, text: str, *, loud: bool = False, **keywords: Any) -> None:
            super().__init__(text=text.upper() if loud else text, **keywords)

    class Shorter(v1.ContentBlockText):
        def __init__(self, text: str) -> None:
            super().__init__(text=text)

    assert list(inspect.signature(Short).parameters) == ["text", "annotations", "meta", "type", "loud"]
    assert list(inspect.signature(Shorter).parameters) == ["text"]


def test_a_signature_does_not_call_default_factories() -> None:
    calls: list[str] = []

    class Noted(Model):
        notes: list[str] = Field(default_factory=lambda: calls)
        first: list[str] = Field(default_factory=lambda data: calls.append("first") or data["notes"])

    optional = [each.default is not inspect.Parameter.empty for each in inspect.signature(Noted).parameters.values()]
    assert optional == [True, True]
    assert calls == []


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


def test_built_and_parsed_instances_have_the_same_hash() -> None:
    built = v1.ContentBlockText(text="x", annotations=v1.Annotations(priority=1))
    parsed = v1.ContentBlockText.model_validate_json('{"text":"x","type":"text","annotations":{"priority":1.0}}')
    assert built == parsed
    assert hash(built) == hash(parsed)
    assert hash(v1.ContentBlockText(text="x")) != hash(v1.ContentBlockText(text="x", annotations=None))


def test_hashes_rarely_collide() -> None:
    values = [v1.EnvVariable(name=str(number), value="v") for number in range(4_000)]
    assert len({hash(value) for value in values}) > 3_990
    assert len({*values, *values}) == 4_000


def test_a_cached_property_changes_neither_hash_nor_equality() -> None:
    class Sized(v1.EnvVariable):
        @cached_property
        def size(self) -> int:
            return len(self.value)

    value, other = Sized(name="n", value="v"), Sized(name="n", value="v")
    assert value.size == 1
    assert value == other
    assert hash(value) == hash(other)
