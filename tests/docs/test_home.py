"""The README and the home page of the site begin with the same agent."""

from __future__ import annotations

from tests.support.docs.blocks import DOCS, blocks
from tests.support.paths import ROOT


def test_the_readme_and_the_home_page_have_the_same_agent() -> None:
    readme, home = (
        [block.text for block in blocks(page) if block.file_name == "echo_agent.py"]
        for page in (ROOT / "README.md", DOCS / "index.md")
    )
    assert len(home) == 1
    assert readme == home
