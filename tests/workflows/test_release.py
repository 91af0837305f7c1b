"""A release is built, and its wheel is checked where nothing else is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tools.paths import ROOT

pytestmark = [pytest.mark.test_all, pytest.mark.slow, pytest.mark.xdist_group("release")]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSION, ADDRESS = PROJECT["version"], PROJECT["urls"]["Repository"]
TAG = f"v{VERSION}"
# A copy of the address in tests/published.py, which runs where nothing else is installed.
WITH_ADDRESS = "https://example.com/acp"
PLACEHOLDER = "https://repository.invalid/acp-bindings"
NEEDED = [
    "generated",
    "kit",
    "runtime",
    "Makefile",
    "README.md",
    "LICENSE",
    "pyproject.toml",
    "requirements",
]


@pytest.fixture(scope="module")
def project(pip_without_a_registry: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built copy of the project with a repository address."""
    folder = tmp_path_factory.mktemp("project")
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    configuration = folder / "pyproject.toml"
    configuration.write_text(configuration.read_text("utf-8").replace(ADDRESS, WITH_ADDRESS), "utf-8")
    (folder / "tests").mkdir()
    shutil.copy(ROOT / "tests/published.py", folder / "tests/published.py")
    (folder / ".venv").mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (folder / ".venv" / name).symlink_to(Path(sys.prefix) / name)
    for name in (".codegen", ".test"):
        (folder / ".venv" / name).touch()
    make(folder, "build")
    return folder


def make(folder: Path, target: str, **variables: str) -> str:
    """Run make as the workflow does, and return what it prints."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["make", target],
        cwd=folder,
        env=environment | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def checked(project: Path) -> str:
    """What the check of the wheel of this version prints. The wheel is installed in `build/bare`."""
    return make(project, "check-dist", TAG=TAG)


def linked(project: Path, folder: Path) -> tuple[Path, Path]:
    """Link what the wheel's check needs to a folder. Return the Python executable and the folder of packages in it."""
    shutil.copytree(project / "build/bare", folder / "build/bare", symlinks=True, copy_function=os.link)
    for name in ("README.md", "tests/published.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (packages,) = folder.glob("build/bare/lib/python3*/site-packages")
    return folder / "build/bare/bin/python", packages


def refusal(python: Path, tag: str = TAG) -> str:
    """Return why the wheel's check stops."""
    command = [str(python), "-I", str(python.parents[3] / "tests/published.py"), tag]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    return done.stderr


def test_the_wheel_works_alone_and_has_the_version_of_the_tag(project: Path, checked: str) -> None:
    assert {path.name.removeprefix(f"acp_bindings-{VERSION}") for path in (project / "dist").iterdir()} == {
        "-py3-none-any.whl",
        ".tar.gz",
    }
    assert f"acp-bindings {VERSION} ({TAG}) works on Python" in checked


@pytest.mark.usefixtures("checked")
def test_a_tag_of_another_version_stops_the_release(project: Path) -> None:
    python = project / "build/bare/bin/python"
    assert f"The tag is v0.0.1, and the wheel's version is {VERSION}." in refusal(python, "v0.0.1")


@pytest.mark.usefixtures("checked")
def test_the_check_of_the_wheel_stops_if_the_repository_has_no_address(project: Path, tmp_path: Path) -> None:
    python, packages = linked(project, tmp_path)
    (metadata,) = packages.glob("acp_bindings-*/METADATA")
    text = metadata.read_text("utf-8")
    metadata.unlink()  # the other tests have the same file
    metadata.write_text(text.replace(WITH_ADDRESS, PLACEHOLDER), "utf-8")
    assert f"Replace {PLACEHOLDER} with it everywhere in pyproject.toml." in refusal(python)


@pytest.mark.usefixtures("checked")
def test_the_check_of_the_wheel_stops_if_the_generated_code_is_missing(project: Path, tmp_path: Path) -> None:
    python, packages = linked(project, tmp_path)
    shutil.rmtree(packages / "acp_bindings/v1")
    assert "The wheel has no acp_bindings.v1." in refusal(python)


def test_the_changelog_begins_with_this_version() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    newest = next(line for line in lines if line.startswith("## "))
    assert newest.split()[1] == VERSION
