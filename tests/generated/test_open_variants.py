"""Unknown variants of open unions take and keep their payload as keywords."""

from __future__ import annotations

import ast
from importlib import import_module

import pytest

from acp_bindings import v1, v2_draft
from acp_runtime.models.model import OpenModel
from tests.support.models.modules import PROFILES, classes, fields, names


def _open(node: ast.ClassDef) -> bool:
    return any("OtherThan" in names(annotation) for _, annotation in fields(node))


@pytest.mark.parametrize("profile", PROFILES)
def test_every_class_with_an_open_tag_is_an_open_model(profile: str) -> None:
    models = import_module(f"acp_bindings.{profile}.models")
    found = [name for name, node in classes(profile).items() if _open(node)]
    assert found
    assert [name for name in found if not issubclass(getattr(models, name), OpenModel)] == []


def test_an_open_variant_keeps_the_payload_it_is_built_with() -> None:
    payload = {"points": [1, 2]}
    block = v2_draft.ContentBlockOther(type="_example.com/chart", **payload)
    assert block.model_extra == payload
    assert block.model_dump_json() == '{"type":"_example.com/chart","points":[1,2]}'


def test_an_open_variant_that_wraps_a_definition_keeps_its_payload_too() -> None:
    payload = {"language": "en"}
    request = v1.CreateElicitationRequestOtherSession(session_id="1", mode="voice", message="Say it", **payload)
    assert request.model_extra == payload
    assert '"language":"en"' in request.model_dump_json()
