"""The README's agent is that of the examples and the site. tests/docs runs its programs."""

from __future__ import annotations

import re

from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text("utf-8")
HOME = (ROOT / "docs" / "index.md").read_text("utf-8")


def _files(page: str) -> dict[str, str]:
    """The Python blocks, by the file names in their first lines."""
    blocks = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", page, re.DOTALL)
    return dict(blocks)


def test_the_agent_is_the_same_as_in_examples_and_on_the_site() -> None:
    agent = _files(README)["echo_agent.py"]
    assert (ROOT / "examples" / "echo_agent.py").read_text("utf-8").endswith(agent)
    assert _files(HOME)["echo_agent.py"] == agent
