"""The scripts of the release workflow build a release and check its wheel where nothing else is installed."""

from __future__ import annotations

import shutil
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.workflows.hub import link_environment
from tests.support.workflows.jobs import Job, run_job

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("release")]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSION, ADDRESS = PROJECT["version"], PROJECT["urls"]["Repository"]
# A copy of the address in tests/published.py, which runs where nothing else is installed.
WITH_ADDRESS = "https://example.com/acp"
PLACEHOLDER = "https://repository.invalid/acp-bindings"
NEEDED = ["generated", "kit", "runtime", "Makefile", "README.md", "LICENSE", "pyproject.toml", "requirements.txt"]


@pytest.fixture(scope="module")
def project(pip_without_a_registry: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built copy of the project with a repository address."""
    folder = tmp_path_factory.mktemp("project")
    for name in NEEDED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    configuration = folder / "pyproject.toml"
    configuration.write_text(configuration.read_text("utf-8").replace(ADDRESS, WITH_ADDRESS), "utf-8")
    (folder / "tests").mkdir()
    shutil.copy(ROOT / "tests/published.py", folder / "tests/published.py")
    link_environment(folder)
    (folder / "home").mkdir()
    built = run_job("release.yml", "build", folder, folder / "home")
    assert not built.failed, built.log
    return folder


def with_another_wheel(project: Path, copy: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """Copy the project, and change its wheel. `change` returns the new content of a file, or None to leave it out."""
    shutil.copytree(project, copy, symlinks=True)
    (wheel,) = (copy / "dist").glob("*.whl")
    with zipfile.ZipFile(next((project / "dist").glob("*.whl"))) as old, zipfile.ZipFile(wheel, "w") as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return copy


def check(project: Path, tag: str) -> Job:
    return run_job("release.yml", "check", project, project / "home", github__ref_name=tag)


def test_the_wheel_works_alone_and_has_the_version_of_the_tag(project: Path) -> None:
    assert {path.name.removeprefix(f"acp_bindings-{VERSION}") for path in (project / "dist").iterdir()} == {
        "-py3-none-any.whl",
        ".tar.gz",
    }
    checked = check(project, f"v{VERSION}")
    assert not checked.failed, checked.log
    assert f"acp-bindings {VERSION} works on Python" in checked.log


def test_a_tag_of_another_version_stops_the_release(project: Path) -> None:
    checked = check(project, "v0.0.1")
    assert checked.failed
    assert f"The tag is v0.0.1, and the wheel's version is {VERSION}." in checked.log


def test_a_repository_without_an_address_stops_the_release(project: Path, tmp_path: Path) -> None:
    def without_address(_: str, content: bytes) -> bytes:
        return content.replace(WITH_ADDRESS.encode(), PLACEHOLDER.encode())

    checked = check(with_another_wheel(project, tmp_path / "project", without_address), f"v{VERSION}")
    assert checked.failed
    assert f"Replace {PLACEHOLDER} with it everywhere in pyproject.toml." in checked.log


def test_a_wheel_without_the_generated_code_stops_the_release(project: Path, tmp_path: Path) -> None:
    def without_v1(name: str, content: bytes) -> bytes | None:
        return None if name.startswith("acp_bindings/v1/") else content

    checked = check(with_another_wheel(project, tmp_path / "project", without_v1), "")
    assert checked.failed
    assert "The wheel has no acp_bindings.v1." in checked.log


def test_the_changelog_begins_with_this_version() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    newest = next(line for line in lines if line.startswith("## "))
    assert newest.split()[1] == VERSION
