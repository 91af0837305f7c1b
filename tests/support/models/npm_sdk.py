"""The npm SDK's own parser, as a peer to compare with. Installed beside the virtual environment when first needed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support.installed import UnavailableError, npm_package
from tests.support.paths import ROOT

SDK = "@agentclientprotocol/sdk"
ZOD = "zod@4.6.7"

_SCRIPT = Path(__file__).with_name("parse_with_npm_sdk.mjs")


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
    return npm_package(package.rpartition("/")[2], package, ZOD)


def parse_all(folder: Path, cases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the npm SDK makes of each {profile, definition, input}."""
    lines = "\n".join(json.dumps(case) for case in cases)
    command = ["node", str(_SCRIPT), str(folder)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
