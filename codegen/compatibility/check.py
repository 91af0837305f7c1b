"""Type-check and run old programs with today's bindings, and attach each failure to the finding that predicts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
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

_REPOSITORY = Path(__file__).resolve().parents[2]
_CODE = "code"
# The label of the schemas that the bindings are generated from.
_TODAY = "today"
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


def check_old_code(old: Iterable[tuple[str, Side]], head: Side, packages: list[Path]) -> list[Result]:
    """Check the programs of old releases, and today's, of which nothing may fail.

    Args:
        old: the releases, each with a label. Profiles that the bindings don't have are left out.
        head: the schemas of the bindings.
        packages: the folders with the bindings and their runtime.

    Returns:
        The results of the old releases. Those of today's code follow if something fails.

    Raises:
        SourceError: the code can't be checked.
    """
    sides = {**dict(old), _TODAY: head}
    programs = {
        (label, name): write_program(f"code_{number}_{name}", name, snapshot.schema)
        for number, (label, side) in enumerate(sides.items())
        for name, snapshot in side.profiles.items()
        if name in head.profiles
    }
    problems = _problems(programs, packages)
    reports = {label: compare(side, head).findings for label, side in sides.items()}
    results: list[Result] = []
    for (label, name), program in programs.items():
        predictions = Predictions((each for each in reports[label] if each.profile == name), sides[label], head)
        result = Result(label, name, len(program.uses), {}, set())
        lines = program.source.split("\n")
        for each in problems[program.name]:
            use = program.use_at(each.line)
            statement = program.uses[use]
            failure, findings = predictions.of(each, Code(use, statement, lines, {name}, statement.lineno))
            result.failures[failure] = findings
            if each.kind == _RUN or use not in program.calls:
                result.stopped.add(use)
        results.append(result)
    return [each for each in results if each.release != _TODAY or each.failures]


def _problems(programs: dict[tuple[str, str], Program], packages: list[Path]) -> dict[str, list[Problem]]:
    """Type-check and run programs, and return their problems by module."""
    with tempfile.TemporaryDirectory(prefix="acp-old-code-") as temporary:
        root = Path(temporary).resolve()
        write_files(root / _CODE, {f"{each.name}.py": each.source.encode() for each in programs.values()})
        found: dict[str, list[Problem]] = {each.name: [] for each in programs.values()}
        for problem in check(root, _CODE, packages):
            found[Path(problem.file).stem].append(problem)
        for program, errors in zip(programs.values(), _run(programs, root / _CODE, packages), strict=True):
            # The last line of a use has what it is for.
            lines = {use: program.uses[use].end_lineno or 0 for use in errors}
            found[program.name] += [Problem(program.name, lines[use], 0, _RUN, errors[use], "") for use in errors]
    return found


def _run(programs: dict[tuple[str, str], Program], folder: Path, packages: list[Path]) -> list[dict[str, str]]:
    """Run programs in another process, and return the errors of their uses."""
    described = [
        {
            "name": each.name,
            "calls": each.calls,
            # Values that can't be parsed any more are replaced by those of today's schema.
            "examples": {
                name: [example, *filter(None, [programs[_TODAY, each.profile].examples.get(name)])]
                for name, example in each.examples.items()
            },
        }
        for each in programs.values()
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
