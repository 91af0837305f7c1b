"""`.ci/run` and the Makefile on machines that lack something. Every command is a script that records its calls."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from codegen.__main__ import ROOT

TOOLS = ("haproxy", "nginx", "pg_ctlcluster")


@dataclass
class Machine:
    """A folder with `.ci/run`, and with all the commands that can be found there.

    Attributes:
        clone: the folder, in which commands run.
    """

    clone: Path

    def command(self, name: str, script: str = "", folder: str = "bin") -> None:
        """Add a command that records its calls in the file `calls` and then runs a script."""
        path = self.clone / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.clone}/calls"\n{script}\n', "utf-8")
        path.chmod(0o755)

    def real(self, *names: str) -> None:
        for name in names:
            found = shutil.which(name)
            assert found is not None, name
            (self.clone / "bin" / name).symlink_to(found)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("ACP_", "MAKE", "MFLAGS"))}
        environment = {**kept, "PATH": str(self.clone / "bin")}
        return subprocess.run(
            command, cwd=self.clone, env=environment, capture_output=True, text=True, check=False, timeout=60
        )

    @property
    def calls(self) -> list[str]:
        path = self.clone / "calls"
        return path.read_text("utf-8").splitlines() if path.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with everything that `.ci/run` needs except the tools of some tests, which apt-get installs."""
    (tmp_path / "bin").mkdir()
    found = Machine(tmp_path)
    found.real("bash", "dirname", "cat")
    for name in ("make", "sudo"):
        found.command(name, "")
    found.command("id", "echo 0")
    found.command("apt-get")
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci/run")
    return found


def test_ci_lets_no_test_be_skipped_because_something_is_missing(machine: Machine) -> None:
    for name in TOOLS:
        machine.command(name)
    machine.command("make", 'echo "$ACP_PEERS $ACP_TOOLS"')
    assert set(machine.run("bash", ".ci/run").stdout.splitlines()) == {"required required"}
    assert not [each for each in machine.calls if each.startswith("apt-get")]


@pytest.mark.parametrize("why", ["apt-get can't install that", "apt-get was not found"])
def test_ci_stops_with_an_error_if_no_tool_can_be_installed(machine: Machine, why: str) -> None:
    if why == "apt-get was not found":
        (machine.clone / "bin/apt-get").unlink()
    else:
        machine.command("apt-get", "exit 100")
    done = machine.run("bash", ".ci/run")
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith(".ci/run: The tests need haproxy nginx postgresql, and ")
    assert why in error
    assert not [each for each in machine.calls if each.startswith("make")]


def test_lint_runs_every_tool_and_fails_if_any_failed(machine: Machine) -> None:
    shutil.copy(ROOT / "Makefile", machine.clone)
    (machine.clone / "bin/make").unlink()
    machine.real("make", "sh")
    for name in ("pyproject.toml", "requirements.txt"):
        (machine.clone / name).touch()
    for name in ("python", "zizmor", "check-jsonschema"):
        machine.command(name, 'case "$*" in *mypy*) exit 1;; esac', ".venv/bin")
    (machine.clone / ".venv/.ready").touch()
    assert machine.run("make", "lint").returncode != 0
    tools = {each.removeprefix("python -m ").split(" --quiet")[0] for each in machine.calls}
    assert tools == {
        "ruff check .",
        "ruff format --check .",
        "mypy",
        "pyright",
        "zizmor",
        "check-jsonschema",
        "codespell_lib",
        "pytest -q tests/typing/public_types.py tests/typing/old_names.py",
        "pytest -q tests/docs/page_types.py",
    }
    machine.command("python", "", ".venv/bin")
    assert machine.run("make", "lint").returncode == 0
