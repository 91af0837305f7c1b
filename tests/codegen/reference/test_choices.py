"""`choices.toml` is about things that the schema has, and a mistake in its form is reported in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.errors import FileError
from codegen.ir import Model
from codegen.reference import choices as file
from codegen.reference.choices import read_choices
from tests.support.codegen.reference import schema

WHOLE = file.FILE.read_text("utf-8")


def test_every_choice_is_about_something_in_the_schema() -> None:
    choices, models = read_choices(), schema().definitions
    properties = {
        f"{name}.{field.wire}"
        for name, each in models.items()
        if isinstance(each, Model)
        for field in schema().fields(name)
    }
    names = {place.partition(".")[2] for place in properties}
    unknown = [*choices.names.keys() - names, *choices.types.keys() - models.keys()]
    unknown += choices.fields.keys() - properties
    unknown += choices.members.keys() - properties - models.keys()
    unknown += [
        f"{name}.{key}" for name, keys in choices.shown.items() for key in keys if f"{name}.{key}" not in properties
    ]
    unknown += choices.shown.keys() - models.keys()
    assert unknown == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WHOLE.replace("[members]", "[member]"), "It has an unknown `member`."),
        (WHOLE.replace("[shown]", "[fields.shown]"), "It lacks `shown`."),
        (WHOLE.replace("[names]", "[names"), "Not TOML"),
    ],
)
def test_a_mistake_in_the_form_of_the_file_is_reported_in_a_sentence(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "choices.toml").write_text(text, "utf-8")
    monkeypatch.setattr(file, "FILE", tmp_path / "choices.toml")
    with pytest.raises(FileError) as error:
        read_choices.__wrapped__()
    assert message in str(error.value)
