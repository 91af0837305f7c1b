"""The examples of the README and of docs/guides/models.md run as printed, and the names in the README exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from pydantic import PrivateAttr, field_validator

from acp_bindings.v1 import ContentBlockText
from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text("utf-8")


def _files() -> dict[str, str]:
    """The Python blocks, by the file names in their first lines."""
    blocks = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", README, re.DOTALL)
    return dict(blocks)


def test_the_client_runs_the_agent(tmp_path: Path) -> None:
    files = _files()
    assert set(files) == {"echo_agent.py", "client.py"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "client.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["Hello!", "end_turn"]
    assert done.returncode == 0


def test_the_agent_is_the_same_as_in_examples() -> None:
    assert (ROOT / "examples" / "echo_agent.py").read_text("utf-8").endswith(_files()["echo_agent.py"])


def test_the_subclass_in_models_md_dumps_what_its_comment_says() -> None:
    """The last line of the example is an expression, followed by its value in a comment."""
    page = (ROOT / "docs" / "guides" / "models.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    *_, last = example.splitlines()
    expression, _, value = last.partition("  # ")
    names = {"ContentBlockText": ContentBlockText, "PrivateAttr": PrivateAttr, "field_validator": field_validator}
    exec(example, names)
    assert eval(expression, names) == eval(value)


def test_the_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = set(re.findall(r"\bmake ([a-z-]+)", README))
    assert {"regen", "test", "upgrade", "help"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_folders_exist() -> None:
    for folder in re.findall(r"`([a-z_/]+/)`", README):
        assert (ROOT / folder).is_dir(), folder
