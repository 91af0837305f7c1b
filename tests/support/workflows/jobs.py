"""Run the scripts of a workflow's job in a clone. The test provides the values that GitHub would.

Steps that use an action are skipped: the clone replaces the checkout, and a folder that jobs share the artifacts.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.support.paths import ROOT

WORKFLOWS = ROOT / ".github/workflows"
SECONDS = 120
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
# Variables of the surrounding process that the scripts must not see.
_REMOVED = ("GITHUB_", "GH_", "GIT_", "MAKE", "MFLAGS", "RUNNER_")


@dataclass
class Job:
    """The result of a job.

    Attributes:
        failed: whether a step failed.
        outputs: the job's outputs.
        summary: the content of `$GITHUB_STEP_SUMMARY`.
        log: its scripts and their output.
        steps: the outcome and the outputs of each step with an id, by their expressions.
    """

    failed: bool = False
    outputs: dict[str, str] = field(default_factory=dict[str, str])
    summary: str = ""
    log: str = ""
    steps: dict[str, str] = field(default_factory=dict[str, str])


def run_job(workflow: str, name: str, clone: Path, home: Path, **given: str) -> Job:
    """Run the scripts of a job, or of the job that it calls, which has the name of its workflow.

    Args:
        workflow: the name of the workflow's file.
        name: the name of the job.
        clone: the working directory.
        home: the folder that the jobs of a run share; commands in its `bin` take precedence.
        given: the values of expressions, by their texts with `__` for a dot.
    """
    text = YAML(typ="safe").load((WORKFLOWS / workflow).read_text("utf-8"))
    job, found = text["jobs"][name], Job()
    values = {key.replace("__", "."): value for key, value in given.items()}
    if "uses" in job:
        inputs = {f"inputs.{key}": _filled(str(each), found, values) for key, each in job["with"].items()}
        called = Path(job["uses"])
        return run_job(called.name, called.stem, clone, home, **values, **inputs)
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail"] if "defaults" in text else ["bash", "-e"]
    (home / "temp").mkdir(exist_ok=True)
    for step in job["steps"]:
        if "run" in step and _is_run(step.get("if"), found, values):
            settings = {**text.get("env", {}), **job.get("env", {}), **step.get("env", {})}
            filled = {key: _filled(each, found, values) for key, each in settings.items()}
            code = _run_step([*shell, "-c", step["run"]], clone, home, filled)
            _collect(step, code, home, found)
    found.outputs = {key: _filled(each, found, values) for key, each in job.get("outputs", {}).items()}
    return found


def _run_step(command: list[str], clone: Path, home: Path, settings: dict[str, str]) -> int:
    files = {"GITHUB_OUTPUT": home / "output", "GITHUB_STEP_SUMMARY": home / "summary"}
    for file in files.values():
        file.write_text("", "utf-8")
    runner = {key: str(path) for key, path in {**files, "RUNNER_TEMP": home / "temp"}.items()}
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_REMOVED)}
    git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**kept, **git, **runner, "PATH": path, **settings}
    with (home / "log").open("wb") as log:
        done = subprocess.run(command, cwd=clone, env=environment, stdout=log, stderr=log, check=False, timeout=SECONDS)
    return done.returncode


def _collect(step: dict[str, Any], code: int, home: Path, found: Job) -> None:
    output, summary, log = ((home / name).read_text("utf-8") for name in ("output", "summary", "log"))
    found.failed = found.failed or code != 0
    found.summary += summary
    found.log += f"$ {step['run']}\n{log}"
    if "id" in step:
        found.steps[f"steps.{step['id']}.outcome"] = "failure" if code else "success"
        lines = [line.partition("=") for line in output.splitlines()]
        found.steps |= {f"steps.{step['id']}.outputs.{key}": value for key, _, value in lines}


def _is_run(condition: str | None, found: Job, values: dict[str, str]) -> bool:
    """Return whether a step runs: after a failure only steps with `failure()`, otherwise all others."""
    if condition == "failure()":
        return found.failed
    return not found.failed and (condition is None or bool(_value(condition, found, values)))


def _filled(text: str, found: Job, values: dict[str, str]) -> str:
    return _EXPRESSION.sub(lambda match: _value(match[1], found, values), text)


def _value(expression: str, found: Job, values: dict[str, str]) -> str:
    """Return the value of an expression: the first of its alternatives that isn't empty."""
    parts = [_operand(each.strip(), found, values) for each in expression.split("||")]
    return next((each for each in parts if each), "")


def _operand(text: str, found: Job, values: dict[str, str]) -> str:
    if text.startswith("'"):
        return text.strip("'")
    return found.steps.get(text, "") if text.startswith("steps.") else values[text]
