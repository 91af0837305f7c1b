"""A mistake in `methods.toml` stops the generator with a message: what is wrong, where, and what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.errors import SchemaError
from codegen.regen import regenerate
from tests.codegen.read.facts_mistakes import MISTAKES
from tests.support.codegen.build import tree, write_schema
from tests.support.codegen.facts_base import FACTS, SCHEMA
from tests.support.codegen.pinning import FILE, pin


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a pinned schema, in which `methods.toml` is written."""
    pin(write_schema(tmp_path / "schema", SCHEMA, FILE))
    monkeypatch.setattr("codegen.read.methods.METHODS_TOML", tmp_path / "methods.toml")
    return tmp_path


def generate(folder: Path, facts: str) -> None:
    (folder / "methods.toml").write_text(facts, "utf-8")
    regenerate(folder / "schema", folder / "out")


def test_the_facts_without_a_mistake_are_accepted(folder: Path) -> None:
    generate(folder, FACTS)
    text = (folder / "out/acp_bindings/v1/methods.py").read_text("utf-8")
    assert all(f"{key}=" in text for key in ("opens", "creates", "ends", "exempt", "gone", "cancels", "cancelled"))


@pytest.mark.parametrize(("old", "new", "place", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_the_facts_is_reported(folder: Path, old: str, new: str, place: str, words: str) -> None:
    assert old in FACTS
    with pytest.raises(SchemaError) as caught:
        generate(folder, FACTS.replace(old, new, 1))
    caught.value.name_source(FILE)
    error = str(caught.value)
    assert place in error
    assert words in error
    assert error.endswith(
        ("Correct the entry.", "The top of the file describes every key.", "Correct the path in that file.")
    )
    assert "\n" not in error
    assert not [path for path in tree(folder) if path.startswith("out")]


def test_a_fact_about_a_property_that_a_release_lacks_is_dropped(folder: Path) -> None:
    facts = FACTS.replace('paths = ["cwd", "folders"]', 'paths = ["cwd", "later"]')
    (folder / "methods.toml").write_text(facts, "utf-8")
    regenerate(folder / "schema", folder / "out", pinned=False)
    text = (folder / "out/acp_bindings/v1/methods.py").read_text("utf-8")
    assert "later" not in text
