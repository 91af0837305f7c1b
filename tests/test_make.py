"""`make` sets up its environment again if that was interrupted."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tools.paths import ROOT


def test_an_environment_without_pip_is_created_again(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "requirements/codegen.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    pythons = [tmp_path / ".venv/bin/python", tmp_path / "python"]
    pythons[0].parent.mkdir(parents=True)  # where Ctrl-C left it
    for python in pythons:
        python.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n', "utf-8")
        python.chmod(0o755)
    subprocess.run(["make", "regen", "UV=", f"PYTHON={pythons[1]}"], cwd=tmp_path, check=True)
    assert "-m venv .venv" in (tmp_path / "calls").read_text("utf-8").splitlines()
