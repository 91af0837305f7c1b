"""Runs a step of the workflows in a clone of a small repository, with git, and records the commands of gh."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import steps
from ruamel.yaml import YAML

from tests.support.git import git
from tools.paths import ROOT

TEXTS: dict[str, Any] = {
    path.name: YAML(typ="safe").load(path.read_text("utf-8")) for path in sorted(ROOT.glob(".github/workflows/*.yml"))
}
# The jobs, without those that call a workflow, because they run its jobs.
JOBS: dict[str, dict[str, Any]] = {
    f"{file}: {name}": {"permissions": text["permissions"], **job}
    for file, text in TEXTS.items()
    for name, job in text["jobs"].items()
    if "uses" not in job
}
# The environment variables that a workflow sets for a step of the script.
VARIABLES: dict[str, set[str]] = {
    step["run"].rpartition("steps.py ")[2]: set(step.get("env", ()))
    for job in JOBS.values()
    for step in job["steps"]
    if "steps.py" in step.get("run", "")
}


def failure(error: str) -> subprocess.CalledProcessError:
    """Return how gh fails if it prints an error."""
    return subprocess.CalledProcessError(1, "gh", stderr=error)


@dataclass
class Workflow:
    """A run of a workflow.

    Attributes:
        home: the folder of everything: the clone, its `origin`, and the artifacts.
        patch: sets the environment variables.
        answers: what gh prints, or how it fails, by the beginnings of its commands.
        commands: the commands of gh so far.
    """

    home: Path
    patch: pytest.MonkeyPatch
    answers: dict[str, str | subprocess.CalledProcessError] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list[str])

    @property
    def clone(self) -> Path:
        return self.home / "clone"

    @property
    def summary(self) -> str:
        return self._read("GITHUB_STEP_SUMMARY")

    @property
    def outputs(self) -> dict[str, str]:
        lines = self._read("GITHUB_OUTPUT").splitlines()
        return {name: value for name, _, value in (line.partition("=") for line in lines)}

    def _read(self, variable: str) -> str:
        path = self.home / variable
        return path.read_text("utf-8") if path.exists() else ""

    def run(self, step: str, **environment: str) -> int:
        """Run a step with the variables that the workflow sets, and return its exit code."""
        assert environment.keys() == VARIABLES[step] - {"GH_TOKEN", "GH_REPO"}
        files = {name: str(self.home / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        given = {**files, "RUNNER_TEMP": str(self.home), "GH_REPO": "acp/bindings", **environment}
        for name, value in given.items():
            self.patch.setenv(name, value)
        for name in ("MAKEFLAGS", "MAKELEVEL"):  # of the make that runs the tests
            self.patch.delenv(name, raising=False)
        self.patch.chdir(self.clone)
        if {"GH_TOKEN", "GH_REPO"} <= VARIABLES[step]:
            self.patch.setattr(steps, "gh", self._gh)
        return steps.main(step)

    def _gh(self, *words: str) -> str:
        command = " ".join(words)
        self.commands.append(command)
        answer = next((answer for beginning, answer in self.answers.items() if command.startswith(beginning)), "")
        if not isinstance(answer, str):
            raise answer
        return answer

    @property
    def writes(self) -> list[str]:
        """The commands of gh that change something."""
        return [command for command in self.commands if command.split()[1] not in ("list", "view", "setup-git")]

    def git(self, *words: str) -> str:
        return git(self.clone, *words)

    def commit(self, files: dict[str, Any], *, push: Sequence[str] = ()) -> None:
        """Write files, commit everything, and push it to branches of `origin`."""
        for name, text in files.items():
            path = self.clone / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Some change")
        for branch in push:
            self.git("push", "--quiet", "origin", f"HEAD:{branch}")
