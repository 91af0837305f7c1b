"""Type checkers accept code with old names of a generated package, and report calls of its deprecated methods."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.codegen.old_names import PROGRAM, RENAMES, generate_with
from tests.support.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("old names")]
_EXPECTED = [
    number for number, line in enumerate(PROGRAM.read_text("utf-8").splitlines(), 1) if re.search(r"# (W )?E$", line)
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the program and the settings of both type checkers."""
    folder = tmp_path_factory.mktemp("project")
    packages = [str(generate_with(folder / "packages", *RENAMES)), str(ROOT / "runtime")]
    shutil.copy(PROGRAM, folder)
    settings = {
        "include": [PROGRAM.name],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "extraPaths": packages,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    options = ("strict = True", "python_version = 3.11", "enable_error_code = deprecated")
    (folder / "mypy.ini").write_text("\n".join(("[mypy]", *options, f"mypy_path = {':'.join(packages)}")), "utf-8")
    return folder


def run(project: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, timeout=250).stdout


def test_mypy_reports_exactly_the_marked_lines(project: Path) -> None:
    found = [json.loads(line) for line in run(project, "mypy", "--output", "json", PROGRAM.name).splitlines()]
    assert sorted({each["line"] for each in found if each["severity"] == "error"}) == _EXPECTED


def test_pyright_reports_exactly_the_marked_lines(project: Path) -> None:
    report = json.loads(run(project, "pyright", "--pythonpath", sys.executable, "--outputjson", "--project", "."))
    found = {each["range"]["start"]["line"] + 1 for each in report["generalDiagnostics"]}
    assert sorted(found) == _EXPECTED
