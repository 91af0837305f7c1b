"""The extensions of Sphinx: checked links, links to the repository, docstrings, and what readers see and find."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tools.paths import ROOT

pytestmark = [pytest.mark.test_all, pytest.mark.slow, pytest.mark.xdist_group("site")]

CONF = """
import sys
sys.path[:0] = [{extensions!r}, "."]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "repository_links", "markdown_docstrings",
              "short_signatures", "code_blocks", "for_readers", "check_site", "sphinx_markdown_builder"]
html_theme = "basic"
html_copy_source = False
repository_url = "https://example.org/project"
project = "small"
copyright = ""
"""
MODULE = '''
from acp_bindings.v1 import ContentBlock

def say(*, content: str | ContentBlock) -> None:
    """Say it."""

def answer(limit: int) -> int:
    """Return `limit` or less, see [the rules](https://example.org/rules):

    1. one
    2. two,
    in two lines:
      - inner

    For example:

        answer(3)

    Args:
        limit: the most
            - of all
    """
    return limit
'''

PAGES = {
    "right": """\
        # Home

        [Notes](../NOTES.md), [here](#home).

        ```{eval-rst}
        .. autofunction:: small.answer
        ```
        """,
    "wrong": """\
        # Home

        <a href="missing.html">1</a> <a href="#nowhere">2</a> <a href="search.html#nowhere">3</a>
        <script src="https://example.org/script.js"></script>
        """,
    "markdown": """\
        # Home

        ```{eval-rst}
        .. autofunction:: small.say
        ```
        """,
}
READERS = {
    "index.md": """\
        # Home

        ```python
        print("home")
        ```

        ```{toctree}
        :hidden:

        guides/one
        project/inside
        ```
        """,
    "guides/one.md": """\
        # One

        <!-- not run: the tests have no editor -->
        ```python
        print("one")
        ```

        - An item

          <!-- run: python one.py -->
        """,
    "project/inside.md": "# Zebras inside\n\nAbout giraffes.\n",
}
SITES = {**{name: {"index.md": text} for name, text in PAGES.items()}, "readers": READERS}
# Builds each site as `make docs` does, all in one process, because importing Sphinx takes most of the time.
BUILD = """
import contextlib, io, json, os, sys
from sphinx.cmd.build import build_main
done = {}
for name in sys.argv[1:]:
    builder = "markdown" if name == "markdown" else "html"
    os.chdir(f"{name}/docs")
    with contextlib.redirect_stderr(io.StringIO()) as printed:
        code = build_main(["--quiet", "--fail-on-warning", "--keep-going", "-b", builder, ".", "../site"])
    done[name] = [code, printed.getvalue()]
    os.chdir("../..")
print(json.dumps(done))
"""


@dataclass(frozen=True)
class Site:
    """What a build of a site of one page printed, and the site."""

    exit_code: int
    stderr: str
    folder: Path


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Site]:
    folder = tmp_path_factory.mktemp("sites")
    for site, pages in SITES.items():
        conf = CONF.format(extensions=str(ROOT / "docs" / "_ext"))
        files = {"conf.py": conf, "../NOTES.md": "# Notes\n", "small.py": MODULE, **pages}
        for name, text in files.items():
            path = folder / site / "docs" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), "utf-8")
    command = [sys.executable, "-c", BUILD, *SITES]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return {name: Site(*found, folder / name / "site") for name, found in json.loads(done.stdout).items()}


def test_a_page_that_is_right_is_built_without_warnings(sites: dict[str, Site]) -> None:
    site = sites["right"]
    assert (site.exit_code, site.stderr) == (0, "")
    html = (site.folder / "index.html").read_text("utf-8")
    assert 'href="https://example.org/project/blob/main/NOTES.md"' in html
    assert 'href="https://example.org/rules"' in html
    assert '<span class="pre">limit</span></code> or less' in html
    assert "<p>two,\nin two lines:</p>" in html
    assert "<p>inner</p>" in html
    assert "answer" in html.partition("For example:")[2].partition("</pre>")[0]


def test_faults_of_built_pages_fail(sites: dict[str, Site]) -> None:
    site = sites["wrong"]
    assert site.exit_code == 1
    assert site.stderr.splitlines() == [
        "WARNING: index.html loads https://example.org/script.js from another host",
        "WARNING: index.html links to #nowhere, which doesn't exist",
        "WARNING: index.html links to missing.html, which doesn't exist",
        "WARNING: index.html links to search.html#nowhere, which doesn't exist",
    ]


def test_signatures_name_the_unions_and_mark_keyword_only_arguments_in_markdown(sites: dict[str, Site]) -> None:
    site = sites["markdown"]
    assert (site.exit_code, site.stderr) == (0, "")
    text = (site.folder / "index.md").read_text("utf-8")
    assert r"say(\*, content: str | ContentBlock) → None" in text


# What readers see


@pytest.fixture
def site(sites: dict[str, Site]) -> Path:
    """The site with the home page, a guide, a page for maintainers, and the names of the SDK."""
    assert (sites["readers"].exit_code, sites["readers"].stderr) == (0, "")
    return sites["readers"].folder


def test_each_line_of_code_is_an_element(site: Path) -> None:
    assert '<span id="code-1-1">' in (site / "index.html").read_text("utf-8")


def test_comments_for_the_tests_are_not_published(site: Path) -> None:
    published = [page.read_text("utf-8") for page in site.rglob("*") if page.suffix in {".html", ".txt"}]
    assert len(published) > len(READERS)
    assert [text for text in published if "run:" in text] == []


def test_the_search_finds_no_page_for_maintainers(site: Path) -> None:
    text = (site / "searchindex.js").read_text("utf-8")
    index: dict[str, Any] = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    assert index["titles"][index["docnames"].index("project/inside")] == ""
    assert not {"giraff", "zebra"} & {*index["terms"], *index["titleterms"]}
    assert "one" in index["titleterms"]
