"""The JSON Schema of a model describes its fields."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from pydantic import Field, TypeAdapter

from acp_bindings import v1
from acp_bindings.v1 import ContentBlockText, Diff
from acp_runtime.models import descriptions
from acp_runtime.models.model import Model
from tests.support.models.modules import raw_schema

PATH = "The absolute file path being modified."


class Marked(Diff):
    line: int = Field(title="Line", description="The line.")
    """Not this."""
    column: int | None = None
    """The column.

    It begins with 1.
    """
    new_text: str
    "Another text."


@pytest.mark.parametrize("by_alias", [True, False])
@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_properties_have_the_docstrings_of_fields_and_no_titles(by_alias: bool, mode: Any) -> None:
    properties = Diff.model_json_schema(by_alias, mode=mode)["properties"]
    assert properties["path"] == {"type": "string", "description": PATH}
    assert properties["oldText" if by_alias else "old_text"]["description"].startswith("The original content")
    assert not any("title" in schema for schema in properties.values())


def test_inherited_fields_and_nested_models_are_described() -> None:
    schema = TypeAdapter(list[ContentBlockText]).json_schema()
    text, annotations = (schema["$defs"][name]["properties"] for name in ("ContentBlockText", "Annotations"))
    assert text["text"]["description"] == "Text payload carried by this content block."
    assert annotations["audience"]["description"].startswith("Intended recipients")


def test_what_a_field_or_a_subclass_says_itself_counts() -> None:
    properties = Marked.model_json_schema()["properties"]
    assert (properties["line"]["title"], properties["line"]["description"]) == ("Line", "The line.")
    assert properties["column"]["description"] == "The column.\n\nIt begins with 1."
    assert properties["newText"]["description"] == "Another text."
    assert properties["path"]["description"] == PATH


def test_a_field_that_is_not_dumped_has_no_description() -> None:
    class Counted(Diff):
        lines: int = Field(exclude=True)

    assert "lines" not in Counted.model_json_schema(mode="serialization")["properties"]


def test_without_source_there_are_no_descriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(module: object) -> str:
        raise OSError("no source")

    with monkeypatch.context() as patched:
        descriptions._docstrings.cache_clear()
        patched.setattr(inspect, "getsource", fail)
        assert Diff.model_json_schema()["properties"]["path"] == {"type": "string"}
    descriptions._docstrings.cache_clear()
    assert Diff.model_json_schema()["properties"]["path"]["description"] == PATH


def test_every_description_of_a_property_upstream_is_in_the_schema() -> None:
    missing = []
    for name, definition in raw_schema("v1")["$defs"].items():
        model = getattr(v1, name, None)
        if isinstance(model, type) and issubclass(model, Model):
            schema = model.model_json_schema()
            properties = schema.get("$defs", {}).get(name, schema).get("properties", {})  # a recursive one is in $defs
            described = {key for key, schema in definition.get("properties", {}).items() if "description" in schema}
            missing += [(name, key) for key in described - {"_meta"} if "description" not in properties[key]]
    assert missing == []
