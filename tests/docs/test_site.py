"""The site's extensions of Sphinx: checked links, links to the repository, and Markdown in docstrings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.support.paths import ROOT

CONF = """
import sys
sys.path[:0] = [{extensions!r}, "."]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "repository_links", "markdown_docstrings",
              "short_signatures", "check_site", "sphinx_markdown_builder"]
html_theme = "basic"
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


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "conf.py").write_text(CONF.format(extensions=str(ROOT / "docs" / "_ext")), "utf-8")
    (tmp_path / "NOTES.md").write_text("# Notes\n", "utf-8")
    (folder / "small.py").write_text(MODULE, "utf-8")
    return folder


def build(docs: Path, page: str, builder: str = "html") -> subprocess.CompletedProcess[str]:
    """Build a site of one page, as `make docs` does."""
    (docs / "index.md").write_text(dedent(page), "utf-8")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--quiet",
        "--fail-on-warning",
        "--keep-going",
        "-b",
        builder,
        ".",
        "../site",
    ]
    return subprocess.run(command, cwd=docs, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
def test_a_page_that_is_right_is_built_without_warnings(docs: Path) -> None:
    page = """\
        # Home

        [Notes](../NOTES.md), [here](#home).

        ```{eval-rst}
        .. autofunction:: small.answer
        ```
        """
    done = build(docs, page)
    assert (done.returncode, done.stderr) == (0, "")
    html = (docs.parent / "site" / "index.html").read_text("utf-8")
    assert 'href="https://example.org/project/blob/main/NOTES.md"' in html
    assert 'href="https://example.org/rules"' in html
    assert '<span class="pre">limit</span></code> or less' in html
    assert "<p>two,\nin two lines:</p>" in html
    assert "<p>inner</p>" in html
    assert "answer" in html.partition("For example:")[2].partition("</pre>")[0]


@pytest.mark.slow
def test_faults_of_built_pages_fail(docs: Path) -> None:
    page = """\
        # Home

        <a href="missing.html">1</a> <a href="#nowhere">2</a> <a href="search.html#nowhere">3</a>
        <script src="https://example.org/script.js"></script>
        """
    done = build(docs, page)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "WARNING: index.html loads https://example.org/script.js from another host",
        "WARNING: index.html links to #nowhere, which doesn't exist",
        "WARNING: index.html links to missing.html, which doesn't exist",
        "WARNING: index.html links to search.html#nowhere, which doesn't exist",
    ]


@pytest.mark.slow
def test_signatures_name_the_unions_and_mark_keyword_only_arguments_in_markdown(docs: Path) -> None:
    page = """\
        # Home

        ```{eval-rst}
        .. autofunction:: small.say
        ```
        """
    done = build(docs, page, "markdown")
    assert (done.returncode, done.stderr) == (0, "")
    text = (docs.parent / "site" / "index.md").read_text("utf-8")
    assert r"say(\*, content: str | ContentBlock) → None" in text
