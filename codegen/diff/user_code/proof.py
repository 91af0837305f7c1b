"""The proof against real code: user code as of the base, type-checked with the head's package.

What it already failed with beside the base's own package and runtime is left out. The head's package is generated
from the head's schemas; its runtime is that of the working tree, because the codegen that runs is.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from codegen.diff.git import extract
from codegen.diff.report import Report
from codegen.diff.sources import Side
from codegen.diff.user_code.checker import Problem, check
from codegen.diff.user_code.failures import Failure, UserCode
from codegen.diff.user_code.mentions import imported_profiles, mentions
from codegen.diff.user_code.predictions import Predictions
from codegen.diff.verdict.findings import Finding
from codegen.emit.modules import emit_package, emit_profile
from codegen.errors import SourceError
from codegen.files.folders import write_files
from codegen.pinned.profiles import Profile
from codegen.regen import PACKAGE

_GENERATED, _RUNTIME = "generated", "runtime"


def check_user_code(folder: str, report: Report, base: Side, head: Side, repository: Path) -> Report:
    """The report with what fails in a folder of the repository as of the base, which is a git ref.

    Raises:
        SourceError: the base has no such folder, or the code in it can't be checked.
    """
    if Path(base.label).is_dir():
        raise SourceError(f"User code is read as of a git ref, and {base.label} is a folder. Give a git ref as base.")
    folder = Path(folder).as_posix()
    with tempfile.TemporaryDirectory(prefix="acp-user-code-") as temporary:
        root = Path(temporary).resolve()
        extract(base.label, repository, root / "base", _GENERATED, _RUNTIME, folder)
        modules = _read(root / "base", folder, base.label)
        write_files(root / "head" / PACKAGE, _package(base, head))
        problems = _new_problems(root, folder, repository)
    predictions = Predictions(report.findings, base, head)
    found = [(modules[each.file].failure(each), modules[each.file].predicted(each, predictions)) for each in problems]
    unpredicted = tuple(failure for failure, by in found if not by)
    findings = tuple(
        replace(each, failures=tuple(failure for failure, by in found if each in by)) for each in report.findings
    )
    return replace(report, findings=findings, user_code=UserCode(folder, len(modules), len(found), unpredicted))


@dataclass(frozen=True)
class _Module:
    """A file of user code."""

    lines: list[str]
    tree: ast.Module

    def failure(self, problem: Problem) -> Failure:
        return Failure(problem.file, problem.line, self.lines[problem.line - 1].strip(), problem.message)

    def predicted(self, problem: Problem, predictions: Predictions) -> list[Finding]:
        return predictions.of(mentions(problem, self.tree), imported_profiles(self.tree, PACKAGE))


def _read(root: Path, folder: str, label: str) -> dict[str, _Module]:
    """The files below a folder, by their paths below `root`."""
    found: dict[str, _Module] = {}
    for path in sorted((root / folder).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        try:
            text = path.read_text("utf-8")
            found[name] = _Module(text.split("\n"), ast.parse(text))
        except (SyntaxError, ValueError) as error:
            version = sys.version.split()[0]
            raise SourceError(f"{name} of {label} is nothing that Python {version} reads: {error}.") from error
    if not found:
        raise SourceError(f"{folder} of {label} is no folder with Python files.")
    return found


def _package(base: Side, head: Side) -> dict[str, bytes]:
    """The head's package by paths, not formatted: nobody reads it.

    A profile that only the base has is an empty module, or else the one that is installed would be found.
    """
    made = {name: Profile(name, each.file, "", "", head.version) for name, each in head.profiles.items()}
    files = emit_package(list(made.values())) | {f"{name}.py": "" for name in base.profiles if name not in made}
    for name, profile in made.items():
        emitted = emit_profile(profile, head.profiles[name].schema)
        files |= {f"{name}/{file}": text for file, text in emitted.items()}
    return {path: text.encode() for path, text in files.items()}


def _new_problems(root: Path, folder: str, repository: Path) -> list[Problem]:
    """What fails with the head's package and didn't with the base's own."""
    base = root / "base"
    found = check(base, folder, [root / "head", repository / _RUNTIME])
    if not found:
        return []
    known = {each.place for each in check(base, folder, [base / _GENERATED, base / _RUNTIME])}
    return [each for each in found if each.place not in known]
