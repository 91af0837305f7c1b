"""The contents of the published wheel, and editable installs. `public_types.py` checks the types in the wheel."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.support.environments import DEADLINE, PACKAGES, build_wheel, create_environment
from tests.support.programs import run_command
from tools.paths import ROOT

pytestmark = [pytest.mark.test_all, pytest.mark.slow, pytest.mark.xdist_group("wheel")]

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
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def editable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python executable of an environment with an editable install, made as by pip, and the tests' dependencies.

    It finds them in the environment of the tests, but not what is installed there as editable.
    """
    folder = tmp_path_factory.mktemp("editable")
    python = create_environment(folder)
    packages = Path(run_command(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    run_command(sys.executable, "-c", BUILD_EDITABLE, str(folder), cwd=ROOT)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        archive.extractall(packages)
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    return python


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
    profiles = [path.name for path in (ROOT / "generated/acp_bindings").iterdir() if (path / "models").is_dir()]
    assert {"v1", "v1_unstable", "v2_draft", "v2_draft_unstable"} <= set(profiles)
    with zipfile.ZipFile(wheel) as archive:
        for profile in profiles:
            assert archive.getinfo(f"acp_bindings/{profile}/models/updates.py").file_size > 10_000


def test_all_packages_in_the_wheel_are_marked_as_typed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert [archive.read(f"{package}/py.typed") for package in PACKAGES] == [b""] * len(PACKAGES)


def test_without_extras_the_wheel_depends_only_on_pydantic(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    requirements = [line for line in lines if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert len(requirements) == 1
    assert requirements[0].startswith("Requires-Dist: pydantic")


def test_an_editable_install_imports_all_packages_from_the_repository(editable: Path, tmp_path: Path) -> None:
    dumped, *files = run_command(str(editable), "-c", WHERE, cwd=tmp_path).splitlines()
    assert json.loads(dumped) == {"type": "text", "text": "a"}
    assert [Path(file) for file in files] == [home / name / "__init__.py" for name, home in PACKAGES.items()]


def test_a_type_checker_finds_the_packages_of_an_editable_install(editable: Path, tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(REVEALED, "utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", str(editable), "code.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=DEADLINE)
    messages = [diagnostic["message"] for diagnostic in json.loads(done.stdout)["generalDiagnostics"]]
    assert messages == ['Type of "reason" is "Literal[\'end_turn\']"', 'Type of "Options().exit_deadline" is "float"']
