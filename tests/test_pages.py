"""The files, folders and make targets that pages name exist, and so do the pages that code cites."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.codegen import reference
from tests.support.docs.blocks import GENERATED
from tests.support.docs.files import steps
from tests.support.programs import run_command
from tools.pages import anchors, prose
from tools.paths import ROOT

PAGES = [
    *ROOT.glob("*.md"),
    *(page for page in (ROOT / "docs").rglob("*.md") if GENERATED not in page.parents),
    *(ROOT / ".github").rglob("*.md"),
]
FOLDERS = ("benchmarks", "codegen", "docs", "examples", "generated", "kit", "runtime", "schema", "tests")
FILES = {path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*")}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))

_NOTE = "<!-- until the first release -->"
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
_FILE = re.compile(r"`([\w./-]+\.(?:py|toml|jinja2?|md))`")
_ANCHOR = re.compile(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)")
# Code cites a page by its path in docs/, or by its name in capitals.
_PAGE = re.compile(r"\b(?:docs|codegen)/[\w/-]+\.md\b|(?<!/)\b[A-Z]{3,}\.md\b")
_TARGET = re.compile(r"(?:`|^)make ([a-z-]+)", re.MULTILINE)
_FOLDER = re.compile(r"`((?:codegen|docs|generated|kit|runtime|schema|tests)/(?:[\w/]*/)?)`")
# They exist only during an upgrade.
_OPTIONAL = {"accepted.toml", "report.md", "schema/accepted.toml"}


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def exists(path: Path) -> bool:
    return path.name in reference.pages() if path.parent == GENERATED else path == GENERATED or path.exists()


def missing(page: Path) -> Iterator[str]:
    """The links, files and folders of a page that don't exist. The files that readers save from the page do."""
    text = prose(page)
    saved = {file for step in steps(page) for file in step.files}
    yield from (link for link in _LINK.findall(text) if not exists((page.parent / link).resolve()))
    for file in _FILE.findall(text):
        if (
            file not in _OPTIONAL | saved
            and not (ROOT / file).exists()
            and not any(each.endswith(f"/{file}") for each in FILES)
        ):
            yield file
    yield from (folder for folder in _FOLDER.findall(text) if not exists(ROOT / folder))


@pytest.mark.xdist_group("reference")  # the group shares the pages of the reference
def test_the_files_and_folders_that_pages_name_exist() -> None:
    assert [(name(page), each) for page in PAGES for each in missing(page)] == []


def missing_headings(page: Path) -> Iterator[str]:
    """The links of a page to headings that don't exist."""
    for link, anchor in _ANCHOR.findall(prose(page)):
        linked = (page.parent / link).resolve() if link else page
        if linked.suffix == ".md" and linked.exists() and anchor not in anchors(linked):
            yield f"{link}#{anchor}"


def test_the_headings_that_pages_link_exist() -> None:
    assert [(name(page), link) for page in PAGES for link in missing_headings(page)] == []


def test_the_make_targets_that_pages_name_exist() -> None:
    named = [(name(page), target) for page in PAGES for target in _TARGET.findall(page.read_text("utf-8"))]
    assert {"regen", "test"} <= {target for _, target in named}
    assert [(page, target) for page, target in named if target not in TARGETS] == []


def test_the_pages_that_code_and_configuration_cite_exist() -> None:
    code = [ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / ".ci" / "run", *(ROOT / ".github").rglob("*.yml")]
    for folder in ("benchmarks", "codegen", "examples", "kit", "runtime"):
        code += (ROOT / folder).rglob("*.py")
    cited = {page for path in code for page in _PAGE.findall(path.read_text("utf-8"))}
    assert "docs/project/performance.md" in cited
    assert [page for page in sorted(cited) if not (ROOT / page).exists()] == []


def test_the_install_page_names_the_wheel_until_the_first_release() -> None:
    texts = {page: page.read_text("utf-8") for page in [*PAGES, *(ROOT / "examples").rglob("*.md")]}
    install = ROOT / "docs" / "learn" / "install.md"
    releasing = ROOT / "docs" / "project" / "releasing.md"
    noted = [page for page, text in texts.items() if re.search(f"^{_NOTE}", text, re.MULTILINE)]
    removed_by = re.findall(f"sed -i '(/\\^{_NOTE}/.*?)' (docs/\\S+)`", texts[releasing])
    assert noted == [ROOT / page for _, page in removed_by]
    for script, _ in removed_by:  # otherwise it is on an index
        version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
        assert f"/dist/acp_bindings-{version}-py3-none-any.whl`" in texts[install]
        after = run_command("sed", script, str(install))
        assert after == re.sub(f"^{_NOTE}\n(?:> .*\n)+\n", "", texts[install], flags=re.MULTILINE)


def test_the_install_page_has_a_row_for_each_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    page = (ROOT / "docs" / "learn" / "install.md").read_text("utf-8")
    rows = {
        extra: brings.lower().split(", ")
        for extra, brings in re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", page, re.MULTILINE)
    }
    extras = {
        extra: [re.match(r"[\w-]+", requirement)[0] for requirement in requirements]
        for extra, requirements in project["optional-dependencies"].items()
    }
    assert {extra: sorted(packages) for extra, packages in rows.items()} == extras


def test_the_index_of_the_decisions_has_every_decision() -> None:
    folder = ROOT / "docs" / "project" / "decisions"
    listed = _LINK.findall((folder / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(path.name for path in folder.iterdir() if path.name != "README.md")
