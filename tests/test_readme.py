"""What the README shows runs as it is pasted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text("utf-8")


def _files() -> dict[str, str]:
    """The Python blocks by the file name in their first line."""
    blocks = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", README, re.DOTALL)
    return dict(blocks)


def test_the_client_talks_to_the_agent_as_pasted(tmp_path: Path) -> None:
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


def test_the_echo_agent_in_examples_is_the_one_in_the_readme() -> None:
    assert (ROOT / "examples" / "echo_agent.py").read_text("utf-8").endswith(_files()["echo_agent.py"])


def test_every_make_target_it_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = set(re.findall(r"\bmake ([a-z-]+)", README))
    assert {"regen", "test", "fetch", "help"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_folder_it_names_exists() -> None:
    for folder in re.findall(r"`([a-z_/]+/)`", README):
        assert (ROOT / folder).is_dir(), folder
