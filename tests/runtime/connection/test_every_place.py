"""Every fact about a place in the tables of methods is found in a message that has only this place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import pytest

from acp_runtime.connection.places import MessagePlaces
from acp_runtime.models.json_values import wire_name
from acp_runtime.models.model import Model
from acp_runtime.models.union_members import models_in
from acp_runtime.stubs.methods import Notification, Request
from tests.support.runtime.any_profile import PROFILES

OTHER = "*"


def messages_with(annotation: Any, place: Sequence[str]) -> Iterator[Model]:
    """Yield messages of a type that have a place and nothing else. In a union, the tag follows its property."""
    for model in models_in(annotation):
        names = {wire_name(name): name for name in model.__pydantic_fields__}
        if place[0] in names and place[1:] == [tag_of(model, names[place[0]])]:
            yield model.model_construct()
        else:
            yield from with_field(model, place)


def tag_of(model: type[Model], name: str) -> str | None:
    return model.__acp_tags__.get(name, OTHER if model.__acp_is_open__ else None)


def with_field(model: type[Model], place: Sequence[str]) -> Iterator[Model]:
    for name, field in model.__pydantic_fields__.items():
        if wire_name(name) == place[0]:
            for value in values_with(field.annotation, place[1:]):
                yield model.model_construct(**{name: value})


def values_with(annotation: Any, place: Sequence[str]) -> Iterator[Any]:
    """Yield values of a type that have a place, and texts where it has no models."""
    models = list(models_in(annotation))
    if not models:
        yield place[0] if place else "relative"
    for model in models:
        tags, steps = {*model.__acp_tags__.values()}, [*place]
        while steps and steps[0] in tags:
            tags.remove(steps.pop(0))
        if steps[:1] == [OTHER] and model.__acp_is_open__:
            steps.pop(0)
        if not tags:
            yield from with_field(model, steps) if steps else [model.model_construct()]


@pytest.mark.parametrize("profile", PROFILES)
def test_rule_27_every_fact_about_a_place_is_found(profile: str) -> None:
    count = 0
    for method in vars(import_module(f"acp_bindings.{profile}.methods")).values():
        if not isinstance(method, (Request, Notification)):
            continue
        messages = [(method.params_facts, method.params_type)]
        if isinstance(method, Request):
            messages.append((method.result_facts, method.result_type))
        for facts, annotation in messages:
            for fact in facts:
                examples = list(messages_with(annotation, fact.place.split(".")))
                assert any(fact in MessagePlaces(facts).find_violations(example) for example in examples), fact
                count += 1
    assert count > 30
