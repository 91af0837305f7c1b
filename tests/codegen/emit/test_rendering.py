"""A mistake in a template is one sentence with its file, its line and Jinja's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.emit import rendering
from codegen.emit.rendering import Templates
from codegen.errors import FileError

MISTAKES = {
    "an unclosed tag": ("a\n{% if true %}", "line 2: Unexpected end of template."),
    "an unknown filter": ("a\n{{ 1 | nothing }}", "line 2: No filter named 'nothing'."),
    "an undefined name": ("a\n{{ nothing }}", "line 2: 'nothing' is undefined."),
}


@pytest.mark.parametrize(("text", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_template_is_described_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "page.jinja").write_text(text, "utf-8")
    with pytest.raises(FileError) as error:
        Templates(tmp_path).render("page.jinja")
    assert f"page.jinja, {words}" in str(error.value)


def test_a_mistake_in_an_included_template_is_described_with_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "page.jinja").write_text("{% include 'part.jinja' %}", "utf-8")
    (tmp_path / "part.jinja").write_text("a\n{% if true %}", "utf-8")
    with pytest.raises(FileError, match=r"/part\.jinja, line 2: Unexpected end of template\."):
        Templates(tmp_path).render("page.jinja")


def test_an_unknown_filter_in_a_template_that_is_only_checked_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "page.jinja").write_text("a\n{{ 1 | nothing }}", "utf-8")
    with pytest.raises(FileError, match=r"/page\.jinja, line 2: No filter named 'nothing'\."):
        Templates(tmp_path).check("page.jinja", set())


def test_a_template_with_a_name_that_it_does_not_get_is_named_from_the_root() -> None:
    folder = Path(rendering.__file__).with_name("templates")
    Templates(folder).check(
        "TypeAliasType.jinja2", {"class_name", "base_class", "fields", "annotation", "marker", "doc"}
    )
    with pytest.raises(FileError) as error:
        Templates(folder).check("TypeAliasType.jinja2", {"class_name", "base_class", "fields", "annotation", "marker"})
    file = "codegen/emit/templates/TypeAliasType.jinja2"
    assert str(error.value) == f"{file}: 'doc' is undefined. Correct the template, or restore it with git."
