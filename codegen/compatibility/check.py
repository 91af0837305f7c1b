"""Type-check and run old programs with today's bindings, and attach each failure to the finding that predicts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from codegen.compatibility.old_code.program import Program, write_program
from codegen.compatibility.results import RUN, Failure, Result
from codegen.compatibility.stable_part import stable_part
from codegen.diff.report import STABLE, compare
from codegen.diff.sources import Side, Snapshot
from codegen.diff.user_code.mentions import mentions
from codegen.diff.user_code.predictions import Predictions
from codegen.diff.user_code.type_checker import Problem, check
from codegen.diff.verdict.findings import Finding
from codegen.errors import SourceError
from codegen.files.folders import write_files
from codegen.regen import read_schema

_REPOSITORY = Path(__file__).resolve().parents[2]
_CODE = "code"
_UNSTABLE = f"{STABLE}_unstable"


def with_stable_profile(side: Side) -> Side:
    """Return a side with the stable profile. Older releases have its schema only as a part of the unstable one."""
    if STABLE in side.profiles or _UNSTABLE not in side.profiles:
        return side
    found = side.profiles[_UNSTABLE]
    raw = stable_part(found.raw)
    return replace(side, profiles={STABLE: Snapshot(found.file, raw, read_schema(raw, STABLE)), **side.profiles})


def check_old_code(old: Iterable[tuple[str, Side]], head: Side, packages: list[Path]) -> list[Result]:
    """Check the programs of old releases.

    Args:
        old: the releases, each with a label.
        head: the schemas of the bindings.
        packages: the folders with the bindings and their runtime.

    Raises:
        SourceError: the code can't be checked, or code that is right for the bindings fails.
    """
    sides = dict(old)
    profiles = {name for side in sides.values() for name in side.profiles if name in head.profiles}
    new = {name: write_program(f"new_{name}", name, head.profiles[name].schema) for name in sorted(profiles)}
    programs = {
        (label, name): write_program(f"old_{number}_{name}", name, snapshot.schema)
        for number, (label, side) in enumerate(sides.items())
        for name, snapshot in side.profiles.items()
    }
    problems = _problems([*new.values()], [each for each in programs.values() if each.profile in new], new, packages)
    problems |= {each.name: _without_profile(each) for each in programs.values() if each.profile not in new}
    reports = {label: compare(side, head, []).findings for label, side in sides.items()}
    return [
        _result(label, program, problems[program.name], reports[label], sides[label], head)
        for (label, _), program in programs.items()
    ]


def _result(
    label: str, program: Program, problems: list[Problem], findings: tuple[Finding, ...], side: Side, head: Side
) -> Result:
    mine = [each for each in findings if each.profile == program.profile]
    predictions = Predictions(mine, side, head)
    failures = [_failure(program, each, predictions) for each in problems]
    return Result(label, program.profile, len(program.lines), tuple(failures), tuple(predictions.findings))


def _failure(program: Program, problem: Problem, predictions: Predictions) -> Failure:
    mentioned = mentions(problem, program.tree_at(problem.line))
    return Failure(program.use_at(problem.line), problem, tuple(predictions.matching(mentioned, {program.profile})))


def _problems(
    current: list[Program], old: list[Program], new: dict[str, Program], packages: list[Path]
) -> dict[str, list[Problem]]:
    """Type-check and run programs, and return the problems of the old ones by module."""
    with tempfile.TemporaryDirectory(prefix="acp-old-code-") as temporary:
        root = Path(temporary).resolve()
        programs = [*current, *old]
        write_files(root / _CODE, {f"{each.name}.py": each.source.encode() for each in programs})
        found: dict[str, list[Problem]] = {each.name: [] for each in programs}
        for problem in check(root, _CODE, packages):
            found[Path(problem.file).stem].append(problem)
        for program, errors in zip(programs, _run(programs, new, root / _CODE, packages), strict=True):
            found[program.name] += [_run_problem(program, use, error) for use, error in errors.items()]
    for program in current:
        for each in found[program.name]:
            use = f"{program.use_at(each.line)} of {program.profile}"
            raise SourceError(f"Code that is right for the bindings fails: {use}: {each.message}")
    return found


def _run(programs: list[Program], new: dict[str, Program], folder: Path, packages: list[Path]) -> list[dict[str, str]]:
    """Run programs in another process, and return the errors of their uses."""
    described = [{**_described(each), "new": _described(new[each.profile])} for each in programs]
    path = os.pathsep.join(map(str, (folder, *packages, _REPOSITORY)))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "codegen.compatibility.run"],
        input=json.dumps(described),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SourceError(f"Old code can't be run: {(done.stderr.splitlines() or ['it gave no reason'])[-1]}.")
    found: list[dict[str, str]] = json.loads(done.stdout)
    return found


def _without_profile(program: Program) -> list[Problem]:
    """Return the problems of a program whose profile was removed: none of its uses can work."""
    return [_run_problem(program, use, f'There is no "acp_bindings.{program.profile}"') for use in program.lines]


def _described(program: Program) -> dict[str, Any]:
    return {"name": program.name, "plan": program.plan}


def _run_problem(program: Program, use: str, error: str) -> Problem:
    """Return the problem of a use that fails when it is run, at its last line, which has what the use is for."""
    return Problem(program.name, program.lines[use][1], 0, RUN, error, "")
