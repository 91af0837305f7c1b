"""The schemas of other releases: of the npm package that ships them, and of upstream's tags.

npm's releases are downloaded once. The tags are in `tags.tar.xz` beside the tests of the report: the schemas of each
tag of https://github.com/agentclientprotocol/agent-client-protocol, with the licence of the pinned ones.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import tarfile
from functools import cache, partial
from pathlib import Path

from tests.support.scale import STRESS
from tests.support.skipping import skip_or_fail
from tools.paths import ROOT
from tools.third_party import PEERS, install_once

PACKAGE = "@agentclientprotocol/sdk"
RELEASES = [
    "1.3.0",
    "1.4.0",
    "1.5.0",
    "1.5.1",
    "1.6.0",
    "1.6.1",
    "1.7.0",
    "1.8.0",
    "1.9.0",
    "2.0.0",
    "2.0.1",
    "2.0.2",
    "2.1.0",
    "2.2.0",
    "2.3.0",
    "2.4.0",
]
TAGS = [
    f"schema-v1.{minor}" for minor in ("13.7", "14.0", "15.0", "16.0", "17.0", "18.0", "19.0", "19.1", "20.0", "21.0")
]
ALPHAS = [f"schema-v2.0.0-alpha.{number}" for number in (1, 2, 3)]
# The releases whose schemas equal those of the release before.
SAME = {"1.5.1", "1.6.1", "1.7.0", "2.0.1", "2.0.2", "2.4.0"}
DIFFERENT = [release for release in RELEASES if release not in SAME]
_ALL_PAIRS = list(itertools.pairwise(RELEASES))
PAIRS = [(old, new) for old, new in _ALL_PAIRS if STRESS or new not in SAME]
TAG_PAIRS = [*itertools.pairwise(TAGS), *itertools.pairwise(ALPHAS), (TAGS[-1], "2.0.0")]
# Tests compare the newest that differ, because reading and comparing real schemas takes seconds.
SAMPLE = [*PAIRS, *TAG_PAIRS] if STRESS else [("2.2.0", "2.4.0")]
_SECONDS = 120


def schemas_of(release: str) -> Path:
    """Return the schema folder of a release or a tag."""
    return (
        install_once("schema-tags", _unpack_tags) / release
        if release in (*TAGS, *ALPHAS)
        else unpacked(release) / "schema"
    )


def unpacked(release: str) -> Path:
    """Return the folder of an unpacked release. Skips the test if the release can't be downloaded."""
    batch = RELEASES if release in RELEASES else [release]  # all at once, because npm needs a second to start
    name = f"sdk-{'-'.join(dict.fromkeys((batch[0], batch[-1])))}"
    if not (PEERS / name / ".complete").exists() and why_unavailable():
        skip_or_fail("peers", f"The release {release} was not downloaded before, and {why_unavailable()}.")
    return install_once(name, partial(_fetch, batch)) / release / "package"


def since(first: str) -> list[str]:
    """Return all versions in the npm registry from `first` on, without prereleases."""
    versions: list[str] = json.loads(_npm("view", PACKAGE, "versions", "--json"))
    return [version for version in versions if version.replace(".", "").isdigit() and _parts(version) >= _parts(first)]


@cache
def why_unavailable() -> str:
    """Return why npm can't be used on this machine, or "" if it can."""
    if shutil.which("npm") is None:
        return "npm is not installed"
    try:
        _npm("view", PACKAGE, "name")
    except subprocess.SubprocessError as error:
        return f"npm can't reach its registry ({type(error).__name__})"
    return ""


def _unpack_tags(folder: Path) -> None:
    with tarfile.open(ROOT / "tests/codegen/diff/tags.tar.xz") as tar:
        tar.extractall(folder, filter="data")


def _fetch(releases: list[str], folder: Path) -> None:
    packages = [f"{PACKAGE}@{release}" for release in releases]
    _npm("pack", "--ignore-scripts", "--silent", "--pack-destination", str(folder), *packages)
    for release in releases:
        (archive,) = folder.glob(f"*-{release}.tgz")
        with tarfile.open(archive) as tar:
            tar.extractall(folder / release, filter="data")
        archive.unlink()


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _npm(*arguments: str) -> str:
    command = ["npm", *arguments]
    settings = {"npm_config_fetch_retries": "1", "npm_config_update_notifier": "false"}
    done = subprocess.run(
        command,
        cwd=PEERS.parent,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=True,
        timeout=_SECONDS,
    )
    return done.stdout
