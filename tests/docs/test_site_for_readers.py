"""The site's extensions for readers: grey lines, no comments for tests, what the search finds and what it doesn't."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.support.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]

CONF = """
import sys
sys.path.insert(0, {extensions!r})
extensions = ["myst_parser", "code_blocks", "names_of_sdk", "for_readers", "check_site"]
html_theme = "basic"
html_copy_source = False
project = "small"
copyright = ""
"""
PAGES = {
    "index.md": """\
        # Home

        ```python
        # agent.py
        import asyncio


        class Echo(Agent):
            async def initialize(self) -> None:
                pass

            async def prompt(self) -> None:
                pass
        ```

        ```{toctree}
        :hidden:

        guides/one
        moving-names
        project/inside
        ```
        """,
    "guides/one.md": """\
        # One

        <!-- not run: the tests have no editor -->
        ```python
        # one.py
        import asyncio
        import json


        class One(Agent):
            async def initialize(self) -> None:
                pass

            async def prompt(self) -> None:
                print("one")
        ```

        - An item

          <!-- run: python one.py -->
        """,
    "moving-names.md": """\
        # Names

        | theirs | ours |
        |---|---|
        | `client.ClientSide(reader)` | `RemoteAgent` |
        | `ask_user(question)` | `session_ask` |
        | `session_update(session_id)` | `session_update` |
        | `prompt(text)` | `session_prompt` |
        """,
    "project/inside.md": "# Zebras inside\n\nAbout giraffes.\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for name, text in PAGES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(dedent(text), "utf-8")
    (folder / "conf.py").write_text(CONF.format(extensions=str(ROOT / "docs" / "_ext")), "utf-8")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", ".", "site"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "site"


@pytest.fixture(scope="module")
def index(site: Path) -> dict[str, Any]:
    text = (site / "searchindex.js").read_text("utf-8")
    found: dict[str, Any] = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    return found


def grey(page: Path) -> list[str]:
    lines = re.findall(r'<span class="hll">(.*?)\n</span>', page.read_text("utf-8"), re.DOTALL)
    return [re.sub("<.*?>", "", line).strip() for line in lines]


def test_lines_that_the_home_page_has_are_grey_in_a_guide(site: Path) -> None:
    assert grey(site / "guides" / "one.html") == ["import asyncio", "async def initialize(self) -&gt; None:", "pass"]


def test_no_line_of_the_home_page_is_grey(site: Path) -> None:
    assert grey(site / "index.html") == []


def test_each_line_of_code_is_an_element(site: Path) -> None:
    assert '<span id="code-1-2">' in (site / "index.html").read_text("utf-8")


def test_comments_for_the_tests_are_not_published(site: Path) -> None:
    published = [page.read_text("utf-8") for page in site.rglob("*") if page.suffix in {".html", ".txt"}]
    assert len(published) > len(PAGES)
    assert [text for text in published if "run:" in text] == []


def test_the_search_finds_no_page_for_maintainers(index: dict[str, Any]) -> None:
    assert index["titles"][index["docnames"].index("project/inside")] == ""
    assert not {"giraff", "zebra"} & {*index["terms"], *index["titleterms"]}
    assert "one" in index["titleterms"]


def test_the_search_finds_a_name_of_the_sdk_in_its_row(site: Path, index: dict[str, Any]) -> None:
    entries = index["indexentries"]
    # Not `prompt`, which is more than a name, and `session_update` only as it was once: here it is the same.
    assert set(entries) == {"clientside", "ask_user", "askuser", "sessionupdate"}
    ((page, anchor, is_main),) = entries["ask_user"]
    assert (index["docnames"][page], is_main) == ("moving-names", True)
    row = (site / "moving-names.html").read_text("utf-8").partition(f'id="{anchor}"')[2]
    assert "ask_user" in row.partition("</tr>")[0]
