"""The contents of the published wheel, and the completeness of its types in a bare environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PACKAGES = {"acp_bindings": ROOT / "generated", "acp_kit": ROOT / "kit", "acp_runtime": ROOT / "runtime"}
TABLES = "acp_kit.history.tables."
DEADLINE = 250

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]

BUILD_EDITABLE = "import sys; from hatchling.build import build_editable; print(build_editable(sys.argv[1]))"
# Types that pyright needs neither pydantic nor all models for.
REVEALED = """
from acp_bindings.v1 import StopReason
from acp_runtime import Options
reason: StopReason = "end_turn"
reveal_type(reason)
reveal_type(Options().exit_deadline)
"""
WHERE = """
import acp_bindings.v1, acp_bindings.v2_draft_unstable, acp_kit, acp_runtime
print(acp_bindings.v1.ContentBlockText(text="a").model_dump_json())
for package in (acp_bindings, acp_kit, acp_runtime):
    print(package.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def bare(wheel: Path, pip_without_a_registry: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python executable of an environment with only the wheel and its dependencies."""
    return _environment(tmp_path_factory.mktemp("bare"), wheel)


@pytest.fixture(scope="module")
def editable(pip_without_a_registry: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python executable of an environment with an editable install and its dependencies."""
    folder = tmp_path_factory.mktemp("editable")
    _run(sys.executable, "-c", BUILD_EDITABLE, str(folder), cwd=ROOT)
    return _environment(folder, next(folder.glob("*.whl")))


def _environment(folder: Path, wheel: Path) -> Path:
    environment = folder / "venv"
    _run(sys.executable, "-m", "venv", "--without-pip", str(environment))
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    _run(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", str(wheel))
    return python


def _run(*command: str, cwd: Path | None = None, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _sources() -> dict[str, bytes]:
    """Return every file of the packages, by its path in a wheel."""
    return {
        path.relative_to(home).as_posix(): path.read_bytes()
        for package, home in PACKAGES.items()
        for path in (home / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_contains_the_packages_byte_for_byte_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        contents = {name: archive.read(name) for name in names}
    assert sorted(contents) == sorted(_sources())
    assert contents == _sources()


def test_the_wheel_contains_the_generated_code_of_every_profile(wheel: Path) -> None:
    profiles = [path.name for path in (ROOT / "generated/acp_bindings").iterdir() if (path / "models.py").is_file()]
    assert {"v1", "v1_unstable", "v2_draft", "v2_draft_unstable"} <= set(profiles)
    with zipfile.ZipFile(wheel) as archive:
        for profile in profiles:
            assert archive.getinfo(f"acp_bindings/{profile}/models.py").file_size > 10_000


def test_all_packages_in_the_wheel_are_marked_as_typed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert [archive.read(f"{package}/py.typed") for package in PACKAGES] == [b"", b"", b""]


def test_without_extras_the_wheel_depends_only_on_pydantic(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    requirements = [line for line in lines if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert len(requirements) == 1
    assert requirements[0].startswith("Requires-Dist: pydantic")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_type_of_the_wheel_is_known_in_a_bare_environment(package: str, bare: Path) -> None:
    report = _completeness(package, bare)
    assert Path(report["packageRootDirectory"]).is_relative_to(bare.parents[1])
    exported = {each["name"]: each["isTypeKnown"] for each in report["symbols"] if each["isExported"]}
    # Tables of SQLAlchemy, which is an extra.
    assert [name for name, known in exported.items() if not known and not name.startswith(TABLES)] == []
    assert report["exportedSymbolCounts"]["withAmbiguousType"] == 0
    assert len(exported) > {"acp_bindings": 5_000, "acp_kit": 400, "acp_runtime": 100}[package]


def test_an_editable_install_imports_all_packages_from_the_repository(editable: Path, tmp_path: Path) -> None:
    dumped, *files = _run(str(editable), "-c", WHERE, cwd=tmp_path).splitlines()
    assert json.loads(dumped) == {"type": "text", "text": "a"}
    assert [Path(file) for file in files] == [home / name / "__init__.py" for name, home in PACKAGES.items()]


def test_a_type_checker_finds_the_packages_of_an_editable_install(editable: Path, tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(REVEALED, "utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", str(editable), "code.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=DEADLINE)
    messages = [each["message"] for each in json.loads(run.stdout)["generalDiagnostics"]]
    assert messages == [
        'Type of "reason" is "Literal[\'end_turn\']"',
        'Type of "Options().exit_deadline" is "float"',
    ]


def _completeness(package: str, python: Path) -> dict[str, object]:
    """Return pyright's report on a package in an environment, which pyright finds by `python` on the path."""
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    command = [sys.executable, "-m", "pyright", "--outputjson", "--ignoreexternal", "--verifytypes", package]
    run = subprocess.run(
        command,
        cwd=python.parents[2],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    report: dict[str, object] = json.loads(run.stdout)["typeCompleteness"]
    return report
