"""docs/moving.md shows what `acp_migrate` makes of programs that run with the official SDK."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from acp_migrate.files import File
from acp_migrate.migration import migrate
from acp_migrate.names import load
from tests.support.docs.blocks import DOCS, Block, blocks
from tests.support.skipping import skip_without
from tools.third_party import UnavailableError, python_in, python_sdk

# The group shares the import of libcst.
pytestmark = pytest.mark.xdist_group("libcst")

PYTHON = [block for block in blocks(DOCS / "moving.md") if block.language == "python"]
BEFORE = {block.file_name: block for block in PYTHON if block.not_run and "agent-client-protocol" in block.not_run}


def after(old: Block) -> str:
    """The block that follows an old one."""
    return PYTHON[PYTHON.index(old) + 1].text


def formatted(code: str, name: str) -> str:
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check", "--select=I", "--fix", "--quiet"], ["format"]):
        settings = ["--isolated", "--line-length=120", f"--stdin-filename={name}", "-"]
        code = subprocess.run(
            [*ruff, *command, *settings], input=code, capture_output=True, text=True, check=True
        ).stdout
    return code


def test_the_page_shows_what_the_tool_writes() -> None:
    assert len(BEFORE) >= 4
    files = [File(Path(str(name)), block.text.encode()) for name, block in BEFORE.items()]
    for result in migrate(files, load()):
        assert (result.todos, result.problem) == (0, "")
        name = result.file.path.name
        assert formatted(result.content.decode(), name) == after(BEFORE[name])


def test_the_old_programs_print_what_the_new_ones_do(tmp_path: Path) -> None:
    try:
        python = python_in(python_sdk())
    except UnavailableError as reason:
        skip_without("The Python SDK can't be installed", reason)
    for name, block in BEFORE.items():
        (tmp_path / str(name)).write_text(block.text, "utf-8")
    modules = ", ".join(Path(str(name)).stem for name in BEFORE)
    program = f"import runpy, {modules}; runpy.run_path('client.py', run_name='__main__')"
    done = subprocess.run(
        [python, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.returncode) == ("HELLO\nend_turn\n", 0)
