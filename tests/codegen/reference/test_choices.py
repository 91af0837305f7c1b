"""A mistake in the form of `choices.toml` is reported in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.errors import FileError
from codegen.reference.examples import CHOICES_TOML, read_choices

WHOLE = CHOICES_TOML.read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WHOLE.replace("[members]", "[member]"), "#/members: The key is missing."),
        (WHOLE.replace("[shown]", "[fields.shown]"), "#/shown: The key is missing."),
        (WHOLE.replace("[names]", "[names"), "Not TOML"),
    ],
)
def test_a_mistake_in_the_form_of_the_file_is_reported_in_a_sentence(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "choices.toml").write_text(text, "utf-8")
    monkeypatch.setattr("codegen.reference.examples.CHOICES_TOML", tmp_path / "choices.toml")
    with pytest.raises(FileError) as error:
        read_choices.__wrapped__()
    assert message in str(error.value)
