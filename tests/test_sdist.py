"""The sdist has all that the repository has, so that whoever unpacks it can run its tests."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from codegen.__main__ import ROOT


def tracked() -> set[str]:
    """What git keeps; empty where this is no repository, as in an unpacked sdist."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    return {name for name in done.stdout.splitlines() if (ROOT / name).exists()}


def test_the_sdist_has_every_file_of_the_repository(tmp_path: Path) -> None:
    expected = tracked()
    if not expected:
        pytest.skip("This is no git repository, so nothing says which files there should be.")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        packed = {name.partition("/")[2] for name in tar.getnames()}
    assert expected - packed == set()
