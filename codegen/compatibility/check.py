"""Type-check and run old programs with today's bindings, and attach each failure to the finding that predicts it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path

from codegen.compatibility.predictions import Code, Predictions
from codegen.compatibility.program import Program, write_program
from codegen.compatibility.type_checker import Problem, check
from codegen.diff.report import compare
from codegen.diff.sources import Side
from codegen.diff.verdict.findings import Failure, Finding
from codegen.errors import SourceError
from codegen.files import write_files
from codegen.pinned.profiles import PROFILES

_REPOSITORY = Path(__file__).resolve().parents[2]
_CODE = "code"
# The kind of a problem that occurred when the program was run. The others have mypy's codes.
_RUN = "run"


@dataclass(frozen=True)
class Result:
    """The result for one profile of one release.

    Attributes:
        release: the label of the release.
        profile: the profile.
        uses: the number of uses of the bindings in its program.
        failures: the errors of those that fail, each with the findings that predict it. The name of the use is the
            file, in which the lines are counted. One use can have several errors.
        stopped: the uses that fail when they run, or can't be run.
    """

    release: str
    profile: str
    uses: int
    failures: dict[Failure, tuple[Finding, ...]]
    stopped: set[str]

    @property
    def failed(self) -> set[str]:
        return {each.file for each in self.failures}

    @property
    def only_type_checked(self) -> set[str]:
        """The uses that fail only in the type checker: they still run."""
        return self.failed - self.stopped

    @property
    def unpredicted(self) -> list[Failure]:
        """The errors of uses of which no error is predicted. Others are knock-on errors of the same statement."""
        predicted = {each.file for each, findings in self.failures.items() if findings}
        return [each for each in self.failures if each.file not in predicted]


def check_old_code(
    old: Iterable[tuple[str, Side]], head: Side, packages: list[Path], profiles: Container[str] = PROFILES
) -> list[Result]:
    """Check the programs of old releases.

    Args:
        old: the releases, each with a label. Profiles that the bindings don't have are left out.
        head: the schemas of the bindings.
        packages: the folders with the bindings and their runtime.
        profiles: the profiles whose code is checked.

    Raises:
        SourceError: the code can't be checked, or code that is right for the bindings fails.
    """
    sides = dict(old)
    new = {
        name: write_program(f"new_{name}", name, each.schema)
        for name, each in head.profiles.items()
        if name in profiles
    }
    programs = {
        (label, name): write_program(f"old_{number}_{name}", name, snapshot.schema)
        for number, (label, side) in enumerate(sides.items())
        for name, snapshot in side.profiles.items()
        if name in new
    }
    problems = _problems([*new.values(), *programs.values()], new, packages)
    for program in new.values():
        for each in problems[program.name]:
            use = f"{program.use_at(each.line)} of {program.profile}"
            raise SourceError(f"Code that is right for the bindings fails: {use}: {each.message}")
    reports = {label: compare(side, head).findings for label, side in sides.items()}
    results: list[Result] = []
    for (label, name), program in programs.items():
        predictions = Predictions((each for each in reports[label] if each.profile == name), sides[label], head)
        result = Result(label, name, len(program.uses), {}, set())
        lines = program.source.split("\n")
        for each in problems[program.name]:
            use = program.use_at(each.line)
            statement = program.uses[use]
            failure = Failure(use, each.line - statement.lineno + 1, lines[each.line - 1].strip(), each.message)
            result.failures[failure] = predictions.of(each, Code(ast.Module([statement], []), lines, {name}))
            if each.kind == _RUN or use not in program.calls:
                result.stopped.add(use)
        results.append(result)
    return results


def _problems(programs: list[Program], new: dict[str, Program], packages: list[Path]) -> dict[str, list[Problem]]:
    """Type-check and run programs, and return their problems by module."""
    with tempfile.TemporaryDirectory(prefix="acp-old-code-") as temporary:
        root = Path(temporary).resolve()
        write_files(root / _CODE, {f"{each.name}.py": each.source.encode() for each in programs})
        found: dict[str, list[Problem]] = {each.name: [] for each in programs}
        for problem in check(root, _CODE, packages):
            found[Path(problem.file).stem].append(problem)
        for program, errors in zip(programs, _run(programs, new, root / _CODE, packages), strict=True):
            # The last line of a use has what it is for.
            lines = {use: program.uses[use].end_lineno or 0 for use in errors}
            found[program.name] += [Problem(program.name, lines[use], 0, _RUN, errors[use], "") for use in errors]
    return found


def _run(programs: list[Program], new: dict[str, Program], folder: Path, packages: list[Path]) -> list[dict[str, str]]:
    """Run programs in another process, and return the errors of their uses."""
    described = [
        {
            "name": each.name,
            "calls": each.calls,
            # Values that can't be parsed any more are replaced by those of today's schema.
            "examples": {
                name: [example, *filter(None, [new[each.profile].examples.get(name)])]
                for name, example in each.examples.items()
            },
        }
        for each in programs
    ]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "codegen.compatibility.run"],
        input=json.dumps(described),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (folder, *packages, _REPOSITORY)))},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SourceError(f"Old code can't be run: {(done.stderr.splitlines() or ['it gave no reason'])[-1]}.")
    found: list[dict[str, str]] = json.loads(done.stdout)
    return found
