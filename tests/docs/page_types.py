"""mypy and pyright, both strict, accept the programs of the pages and of the protocol reference, which codegen writes.

`make lint` runs this file, `make test` doesn't: it takes half a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.codegen.reference import blocks
from tests.support.programs import run_command
from tools.paths import ROOT

# The cache is its own, because `make lint` runs mypy on the project at the same time.
MYPY = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache" / "pages"), "."]


@pytest.fixture(scope="session")
def checked(programs: Path) -> Path:
    """A folder with the programs of the pages and the blocks of the protocol reference."""
    for number, (page, block) in enumerate(blocks("python")):
        (programs / f"reference_{Path(page).stem}_{number}.py").write_text(block.text, "utf-8")
    return programs


def test_mypy_strict_accepts_the_programs_and_every_block_of_the_protocol_reference(checked: Path) -> None:
    run_command(*MYPY, cwd=checked)


def test_pyright_strict_accepts_them_and_their_matches_are_exhaustive(checked: Path) -> None:
    settings = '{"typeCheckingMode": "strict", "reportMatchNotExhaustive": true}'
    (checked / "pyrightconfig.json").write_text(settings, "utf-8")
    run_command(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, ".", cwd=checked)
