"""The distribution: its version, the links that a package index shows, and the files of the sdist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path

import pytest

import acp_runtime
from tests.support.programs import run_command
from tools.paths import ROOT

# The group shares an sdist.
pytestmark = pytest.mark.xdist_group("sdist")

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ADDRESS = PROJECT["urls"]["Repository"]
# They need the packages, the generator, the schema, the pages and the helpers of tests. They are few, because each
# module that they import is compiled first.
SOME_TESTS = [
    "tests/runtime/jsonrpc/test_framing.py::test_rule_1_a_sent_message_is_one_line_even_if_its_text_has_newlines",
    "tests/codegen/test_drift.py::test_the_folder_holds_only_generated_files_with_their_header",
    "tests/codegen/test_drift.py::test_check_prints_nothing_if_nothing_differs",
    "tests/test_pages.py::test_the_headings_that_pages_link_exist",
    "tests/test_protocol_rules.py",
]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a newly built sdist, by their paths in it."""
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(folder)]
    run_command(*command, cwd=ROOT)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        files = [(member.name.partition("/")[2], tar.extractfile(member)) for member in tar]
        return {name: file.read() for name, file in files if file is not None}


def tracked() -> set[str]:
    """The files that git tracks; empty where this is no repository, as in an unpacked sdist."""
    try:
        done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return set()
    return {name for name in done.stdout.splitlines() if (ROOT / name).exists()}


def test_the_version_is_the_one_in_pyproject_toml() -> None:
    assert acp_runtime.__version__ == version("acp-bindings") == PROJECT["version"]


@pytest.mark.test_all
def test_the_sdist_has_every_file_of_the_repository(sdist: dict[str, bytes]) -> None:
    expected = tracked()
    if not expected:
        pytest.skip("This is no git repository, so there is no list of files to compare with.")
    assert expected - sdist.keys() == set()


@pytest.mark.test_all
@pytest.mark.slow
def test_tests_run_from_an_unpacked_sdist_without_git(sdist: dict[str, bytes], tmp_path: Path) -> None:
    for name, content in sdist.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    packages = os.pathsep.join(str(tmp_path / name) for name in ("generated", "kit", "runtime"))
    environment = {**kept, "PYTHONPATH": packages, "PATH": str(Path(sys.executable).parent)}
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses", "0", "-m", "not slow", *SOME_TESTS]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


@pytest.mark.test_all
def test_links_on_the_package_index_lead_to_the_tag_of_the_release(sdist: dict[str, bytes]) -> None:
    shown = Parser().parsestr(sdist["PKG-INFO"].decode()).get_payload()
    linked = re.findall(r"\]\((?!https?:|#)([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert linked
    for page in linked:
        kind = "raw" if page.endswith(".svg") else "blob"
        assert f"]({ADDRESS}/{kind}/v{PROJECT['version']}/{page})" in shown
        assert f"]({page})" not in shown


def test_all_project_urls_are_in_the_repository() -> None:
    assert all(url.startswith(ADDRESS) for url in PROJECT["urls"].values())
