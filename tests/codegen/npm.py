"""The releases of the npm package that ships the schemas, downloaded once and kept."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path

import pytest

from codegen.__main__ import ROOT

PACKAGE = "@agentclientprotocol/sdk"
FIRST = (1, 3, 0)
_CACHE = ROOT / ".venv" / "peers"
_SECONDS = 60


@cache
def why_not() -> str:
    """Why npm can't be used here; empty if it can."""
    if shutil.which("npm") is None:
        return "there is no npm"
    try:
        _npm("view", PACKAGE, "name")
    except subprocess.SubprocessError as error:
        return f"npm can't reach its registry: {type(error).__name__}"
    return ""


def releases() -> list[str]:
    """Every version since the first that ships schemas, prereleases left out."""
    versions: list[str] = json.loads(_npm("view", PACKAGE, "versions", "--json"))
    return [version for version in versions if version.replace(".", "").isdigit() and _parts(version) >= FIRST]


def unpacked(version: str) -> Path:
    """The unpacked package of a version."""
    home = _CACHE / f"sdk-{version}"
    if not home.is_dir():
        _CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_CACHE) as staging:
            _npm("pack", "--ignore-scripts", "--silent", "--pack-destination", staging, f"{PACKAGE}@{version}")
            with tarfile.open(next(Path(staging).glob("*.tgz"))) as archive:
                archive.extractall(staging, filter="data")
            (Path(staging) / "package").rename(home)
    return home


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _npm(*arguments: str) -> str:
    done = subprocess.run(["npm", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=_SECONDS)
    return done.stdout


needs_npm = pytest.mark.usefixtures("npm")
