"""mypy and pyright accept the programs of the pages, and mypy those of the protocol reference, which codegen writes.

`make lint` runs this file, `make test` doesn't: it takes a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.codegen.reference import blocks
from tests.support.docs.run import run
from tests.support.paths import ROOT

# The cache is its own, because `make lint` runs mypy on the project at the same time.
MYPY = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache" / "pages"), "."]


def test_mypy_strict_accepts_the_programs(programs: Path) -> None:
    run(MYPY, programs)


def test_mypy_strict_accepts_every_block_of_the_protocol_reference(tmp_path: Path) -> None:
    for number, block in enumerate(blocks("python")):
        (tmp_path / f"{Path(block.page).stem}_{number}.py").write_text(block.text, "utf-8")
    run(MYPY, tmp_path)


def test_pyright_accepts_the_programs(programs: Path) -> None:
    """With its default settings, which are those of many editors."""
    run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "."], programs)
