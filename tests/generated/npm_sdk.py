"""The npm SDK's own parser, as a peer to compare with. Installed beside the virtual environment when first needed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.generated.profiles import ROOT

SDK = "@agentclientprotocol/sdk"
ZOD = "zod@4.6.7"

_SCRIPT = Path(__file__).with_name("parse_with_npm_sdk.mjs")
_NO_NETWORK = (
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ENETUNREACH",
    "ENOTCACHED",
    "ETIMEDOUT",
    "ERR_SOCKET",
)


class UnavailableError(Exception):
    """The npm SDK can't be had here, and why."""


def pinned_sdk() -> str:
    """The npm package that the pinned schema is from, with its version."""
    source: str = json.loads((ROOT / "schema" / "PINNED.json").read_text(encoding="utf-8"))["source"]
    if not source.startswith(f"npm:{SDK}@"):
        raise UnavailableError(f"the schema is pinned from {source}, which is no npm package")
    return source.removeprefix("npm:")


def install() -> Path:
    """The folder that the npm SDK is installed in.

    Raises:
        UnavailableError: there is no node, no npm or no network.
    """
    package = pinned_sdk()
    npm = shutil.which("npm")
    if shutil.which("node") is None or npm is None:
        raise UnavailableError("node and npm are needed to run the npm SDK's parser")
    folder = ROOT / ".venv" / "peers" / package.rpartition("/")[2]
    done = folder / ".installed"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _install(npm, folder, package)
        done.touch()
    return folder


def parse_all(folder: Path, cases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the npm SDK makes of each {profile, definition, input}."""
    lines = "\n".join(json.dumps(case) for case in cases)
    command = ["node", str(_SCRIPT), str(folder)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def _install(npm: str, folder: Path, package: str) -> None:
    quiet = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error"]
    command = [npm, "install", "--prefix", str(folder), *quiet, package, ZOD]
    environment = {**os.environ, "npm_config_fetch_retries": "1", "npm_config_update_notifier": "false"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError("npm could not fetch the SDK within two minutes") from None
    if any(code in done.stderr for code in _NO_NETWORK):
        raise UnavailableError("npm can't reach its registry")
    assert done.returncode == 0, done.stderr
