"""pyright accepts the programs of the pages. `make lint` runs this file, `make test` doesn't: it takes 20 seconds."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.docs.run import run


def test_pyright_accepts_the_programs(programs: Path) -> None:
    """With its default settings, which are those of many editors."""
    run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "."], programs)
