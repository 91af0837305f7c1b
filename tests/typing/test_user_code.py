"""Both type checkers accept correct user code, and report each wrong line of incorrect code.

In `mistakes/`, both checkers report a line that ends in `# E`, and one of them a line with `# E: pyright` or
`# E: mypy`. The packages are found as by users' tools: installed (editable) in the environment, with `py.typed`.
`PROGRAM` is checked like the mistakes, but with a small generated package that has old names.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.codegen.old_names import PROGRAM, RENAMES, generate_with
from tests.support.paths import ROOT

HERE = Path(__file__).parent
USER_CODE = sorted((HERE / "user_code").glob("*.py"))
MISTAKES = sorted((HERE / "mistakes").glob("*.py"))
MARK = re.compile(r"# (?:W )?E(?:: (?P<checker>pyright|mypy))?$")
DEADLINE = 250
# Shared by all runs of mypy with these options, also of other tests in the group "mypy", and kept until `make clean`:
# most of what a run checks is the standard library and pydantic.
MYPY_CACHE = ROOT / ".mypy_cache"

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Finding:
    file: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file.name}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Renamed:
    """A folder with a copy of `PROGRAM`, and the paths of the packages that it uses."""

    folder: Path
    program: Path
    packages: list[str]


@pytest.fixture(scope="module")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Renamed:
    folder = tmp_path_factory.mktemp("renamed")
    program = folder / "mistakes" / PROGRAM.name
    program.parent.mkdir()
    shutil.copy(PROGRAM, program)
    return Renamed(folder, program, [str(generate_with(folder / "packages", *RENAMES)), str(ROOT / "runtime")])


@pytest.fixture(scope="module")
def pyright(renamed: Renamed) -> list[Finding]:
    """The findings of pyright in strict mode, in both folders and in the program."""
    here = os.path.relpath(HERE, renamed.folder)
    settings = json.loads((HERE / "pyrightconfig.json").read_text("utf-8"))
    settings["include"] = [*(f"{here}/{each}" for each in settings["include"]), "mistakes"]
    settings["executionEnvironments"] = [{"root": "mistakes", "extraPaths": renamed.packages}, {"root": here}]
    (renamed.folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    project = str(renamed.folder)
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", "--project", project]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEADLINE)
    report = json.loads(run.stdout)
    assert report["summary"]["filesAnalyzed"] == len(USER_CODE) + len(MISTAKES) + 1
    return [
        Finding(Path(each["file"]), each["range"]["start"]["line"] + 1, each["message"])
        for each in report["generalDiagnostics"]
    ]


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory, renamed: Renamed) -> list[Finding]:
    """The findings of mypy in strict mode, in both folders and in the program."""
    found = list(_mypy(tmp_path_factory.mktemp("mypy"), [*USER_CODE, *MISTAKES], "", MYPY_CACHE))
    settings = f"mypy_path = {':'.join(renamed.packages)}\n"
    return [*found, *_mypy(renamed.folder, [renamed.program], settings, MYPY_CACHE)]


def _mypy(folder: Path, files: list[Path], settings: str, cache: Path) -> Iterator[Finding]:
    config = folder / "mypy.ini"
    config.write_text(f"[mypy]\nstrict = True\npython_version = 3.11\n{settings}", "utf-8")
    options = ["--output", "json", "--config-file", str(config), "--cache-dir", str(cache)]
    command = [sys.executable, "-m", "mypy", *options, *map(str, files)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert run.returncode in (0, 1), run.stderr
    for each in map(json.loads, filter(None, run.stdout.splitlines())):
        if each["severity"] == "error":
            yield Finding(Path(each["file"]), each["line"], each["message"])


def _expected(checker: str) -> set[tuple[str, int]]:
    return {
        (path.name, number)
        for path in (*MISTAKES, PROGRAM)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if (mark := MARK.search(line)) and mark["checker"] in (None, checker)
    }


def _check_mistakes(findings: list[Finding], checker: str) -> None:
    mistakes = [each for each in findings if each.file.parent.name == "mistakes"]
    expected = _expected(checker)
    found = {(each.file.name, each.line) for each in mistakes}
    unexpected = [str(each) for each in mistakes if (each.file.name, each.line) not in expected]
    missed = [f"{name}:{line}" for name, line in sorted(expected - found)]
    assert (missed, unexpected) == ([], [])


@pytest.mark.xdist_group("pyright")
def test_typical_user_code_is_clean_under_pyright_strict(pyright: list[Finding]) -> None:
    assert [str(each) for each in pyright if each.file.parent.name == "user_code"] == []


@pytest.mark.xdist_group("mypy")
def test_typical_user_code_is_clean_under_mypy_strict(mypy: list[Finding]) -> None:
    assert [str(each) for each in mypy if each.file.parent.name == "user_code"] == []


def test_typical_user_code_is_clean_under_mypy_with_the_pydantic_plugin(tmp_path: Path) -> None:
    plugin = "plugins = pydantic.mypy\n"
    assert [str(each) for each in _mypy(tmp_path, USER_CODE, plugin, MYPY_CACHE / "plugin")] == []


@pytest.mark.xdist_group("pyright")
def test_pyright_reports_exactly_the_marked_lines(pyright: list[Finding]) -> None:
    _check_mistakes(pyright, "pyright")


@pytest.mark.xdist_group("mypy")
def test_mypy_reports_exactly_the_marked_lines(mypy: list[Finding]) -> None:
    _check_mistakes(mypy, "mypy")


@pytest.mark.parametrize("path", USER_CODE, ids=lambda path: path.stem)
def test_typical_user_code_can_be_imported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location(f"user_code_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look it up
    spec.loader.exec_module(module)
