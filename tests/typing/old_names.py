"""Type checkers accept old names and deprecate them. `make lint` runs this file, `make test` doesn't.

`PROGRAM` needs a small generated package that has old names, so it can't be checked with the rest of the project.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.codegen.old_names import PROGRAM, RENAMES, generate_with
from tests.support.programs import run_command
from tools.paths import ROOT


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of `PROGRAM`, and the type checkers' settings, which name the packages that it uses."""
    folder = tmp_path_factory.mktemp("renamed")
    shutil.copy(PROGRAM, folder)
    packages = [str(generate_with(folder / "packages", *RENAMES)), str(ROOT / "runtime")]
    strict = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "include": [PROGRAM.name], "extraPaths": packages}
    (folder / "pyrightconfig.json").write_text(json.dumps(strict), "utf-8")
    mypy = f"[mypy]\nstrict = True\npython_version = 3.11\nmypy_path = {':'.join(packages)}\n"
    (folder / "mypy.ini").write_text(mypy, "utf-8")
    return folder


def test_pyright_reports_exactly_the_marked_lines(project: Path) -> None:
    run_command(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, cwd=project)


def test_mypy_reports_exactly_the_marked_lines(project: Path) -> None:
    run_command(sys.executable, "-m", "mypy", PROGRAM.name, cwd=project)
