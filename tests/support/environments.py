"""Builds the wheel, and installs wheels into environments of their own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.support.programs import run_command
from tools.paths import ROOT

DEADLINE = 250
PACKAGES = {
    "acp_bindings": ROOT / "generated",
    "acp_kit": ROOT / "kit",
    "acp_runtime": ROOT / "runtime",
}


def build_wheel(folder: Path) -> Path:
    """Build the wheel of the repository into a folder, and return its path."""
    run_command(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return next(folder.glob("*.whl"))


def install(wheel: Path, folder: Path) -> Path:
    """Create an environment with only a wheel and its dependencies, and return its Python executable."""
    python = create_environment(folder)
    run_command(
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--disable-pip-version-check",
        str(wheel),
    )
    return python


def create_environment(folder: Path) -> Path:
    """Create an environment with nothing installed, and return its Python executable."""
    environment = folder / "venv"
    run_command(sys.executable, "-m", "venv", "--without-pip", str(environment))
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
