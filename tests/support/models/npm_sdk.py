"""Runs the npm SDK's parser, for comparison. It is installed next to the virtual environment on first use."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT
from tools.third_party import UnavailableError, typescript_sdk

SDK = "@agentclientprotocol/sdk"

_SCRIPT = Path(__file__).with_name("parse_with_npm_sdk.mjs")


def pinned_sdk() -> str:
    """Return the npm package of the pinned schema, with its version."""
    source: str = json.loads((ROOT / "schema" / "PINNED.json").read_text(encoding="utf-8"))["source"]
    if not source.startswith(f"npm:{SDK}@"):
        raise UnavailableError(f"the schema is pinned from {source}, which isn't the npm package")
    return source.removeprefix("npm:")


def install() -> Path:
    """Install the npm SDK if necessary, and return its folder.

    Raises:
        UnavailableError: if there is no node, no npm or no network.
    """
    return typescript_sdk(pinned_sdk())


def parse_all(folder: Path, cases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the npm SDK's result for each {profile, definition, input}."""
    lines = "\n".join(json.dumps(case) for case in cases)
    command = ["node", str(_SCRIPT), str(folder)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
