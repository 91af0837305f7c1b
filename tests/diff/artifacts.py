"""The schemas of the npm SDK's releases, fetched once with npm and kept beside the virtual environment."""

from __future__ import annotations

import functools
import itertools
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.generated.npm_sdk import SDK
from tests.generated.profiles import ROOT

FIRST = "1.3.0"
RELEASES = "1.3.0 1.4.0 1.5.0 1.5.1 1.6.0 1.6.1 1.7.0 1.8.0 1.9.0 2.0.0 2.0.1 2.0.2 2.1.0 2.2.0 2.3.0 2.4.0".split()
PAIRS = list(itertools.pairwise(RELEASES))
_FOLDER = ROOT / ".venv" / "peers" / "schemas"


def schemas_of(release: str) -> Path:
    """The folder of schemas of a release; skips the test where it can't be had."""
    folder = _FOLDER / release
    if not folder.exists():
        if not (reachable := _npm())[0]:
            pytest.skip(reachable[1])
        _fetch(release, folder)
    return folder


@functools.cache
def _npm() -> tuple[bool, str]:
    """Whether npm has its registry, or why not."""
    if shutil.which("npm") is None:
        return False, "npm is needed to fetch the released schemas"
    unreachable = "npm can't reach its registry, and the released schemas were not fetched before"
    try:
        done = _run("view", f"{SDK}@{FIRST}", "version", cwd=ROOT)
    except subprocess.TimeoutExpired:
        return False, unreachable
    return done.returncode == 0, unreachable


def _run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "npm_config_fetch_retries": "1", "npm_config_update_notifier": "false"}
    command = ["npm", *arguments, "--loglevel=error"]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False)


def _fetch(release: str, folder: Path) -> None:
    """Download a release and keep its schemas, all or nothing."""
    staging = folder.with_suffix(".part")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    done = _run("pack", f"{SDK}@{release}", "--json", "--pack-destination", str(staging), cwd=staging)
    assert done.returncode == 0, done.stderr
    packed: list[dict[str, Any]] = json.loads(done.stdout)
    with tarfile.open(next(staging.glob("*.tgz"))) as tar:
        wanted = [each for each in tar.getmembers() if each.name.startswith("package/schema/") and each.isfile()]
        tar.extractall(staging, [each for each in wanted if each.name.endswith(".json")], filter="data")
    assert packed
    assert wanted
    (staging / "package" / "schema").rename(folder)
    shutil.rmtree(staging)
