"""A mistake in a template is one sentence with its file, its line and Jinja's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.emit.rendering import Templates
from codegen.errors import FileError

MISTAKES = {
    "an unclosed tag": ("a\n{% if true %}", "line 2: Unexpected end of template."),
    "an undefined name": ("a\n{{ nothing }}", "line 2: 'nothing' is undefined."),
}


@pytest.mark.parametrize(("text", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_template_is_described_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "page.jinja").write_text(text, "utf-8")
    with pytest.raises(FileError) as error:
        Templates(tmp_path).render("page.jinja")
    assert f"page.jinja, {words}" in str(error.value)
