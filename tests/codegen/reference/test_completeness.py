"""The protocol reference has every method and every public type once, and all its links lead somewhere."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from myst_parser.slugs import github_slugify

import acp_bindings.v1
from acp_bindings.v1 import methods as tables
from codegen.__main__ import main
from codegen.reference.texts import first_sentence
from tests.support.codegen.reference import headings, pages, schema

# The group shares the pages.
pytestmark = pytest.mark.xdist_group("reference")

STUBS = {"Agent", "Client", "RemoteAgent", "RemoteClient"}
TYPES = {name for name in acp_bindings.v1.__all__ if name[0].isupper() and not name.isupper()} - STUBS
LINK = re.compile(r"\]\((?P<target>[^)]+)\)")


def test_every_method_is_the_title_of_one_page() -> None:
    tables_of = [
        getattr(tables, f"{role}_{kind}") for role in ("AGENT", "CLIENT") for kind in ("REQUESTS", "NOTIFICATIONS")
    ]
    titles = [text.splitlines()[0].removeprefix("# ") for name, text in pages().items()]
    assert {title: titles.count(title) for table in tables_of for title in table} == dict.fromkeys(
        {wire for table in tables_of for wire in table}, 1
    )


def test_the_overview_links_every_page_once() -> None:
    targets = Counter(LINK.findall(pages()["index.md"]))
    assert {name: targets[name] for name in pages() if name != "index.md"} == dict.fromkeys(
        (name for name in pages() if name != "index.md"), 1
    )


def test_every_public_type_has_one_section() -> None:
    counts = Counter(heading.split(": ")[-1] for text in pages().values() for heading in headings(text))
    assert {name: counts[name] for name in sorted(TYPES)} == dict.fromkeys(sorted(TYPES), 1)


def test_every_link_leads_to_a_page_and_a_heading_that_exist() -> None:
    anchors = {name: {github_slugify(heading) for heading in headings(text)} for name, text in pages().items()}
    broken: list[str] = []
    for name, text in pages().items():
        for target in LINK.findall(text):
            if not target.startswith(("https://", "../")):
                file, _, place = target.partition("#")
                if file not in anchors or (place and place not in anchors[file]):
                    broken.append(f"{name}: {target}")
    assert broken == []


def test_no_page_has_a_none_where_a_sentence_is_missing() -> None:
    assert [name for name, text in pages().items() if "None" in text.splitlines()] == []


def test_no_page_has_two_headings_with_the_same_anchor() -> None:
    twice = {
        name: [slug for slug, count in Counter(map(github_slugify, headings(text))).items() if count > 1]
        for name, text in pages().items()
    }
    assert {name: anchors for name, anchors in twice.items() if anchors} == {}


def test_the_tag_property_of_a_union_is_named_as_on_the_wire() -> None:
    names = set(re.findall(r"^One of these, by the property `(.+)`:$", "\n".join(pages().values()), re.MULTILINE))
    assert "sessionUpdate" in names
    assert names <= {field.wire for name in _models() for field in schema().fields(name)}


def _models() -> set[str]:
    return {name for name, definition in schema().definitions.items() if type(definition).__name__ == "Model"}


def test_the_command_writes_the_pages_and_removes_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.reference.pages.reference", lambda _: pages())
    (tmp_path / "stale.md").write_text("old", "utf-8")
    assert main(["reference", str(tmp_path)]) == 0
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == pages()


def test_a_description_that_only_says_that_something_is_unstable_has_no_first_sentence() -> None:
    assert first_sentence("**UNSTABLE**\n\nThis capability is not part of the spec yet.") == ""


def test_the_first_sentence_comes_after_the_notice_about_unstable_features() -> None:
    notice = "**UNSTABLE**\n\nThis capability is not part of the spec yet, and may be removed."
    assert first_sentence(f"{notice}\n\nAn error. It is fatal.\n\nMore.") == "An error."
    assert first_sentence("**UNSTABLE**\n\nAn error.\n\nMore.") == "An error."
