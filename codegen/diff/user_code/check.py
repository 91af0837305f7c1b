"""Type-checks the base's user code with the head's package, and attaches each failure to the findings that predict it.

Failures that also occur with the base's own package and runtime are ignored. This codegen generates the head's package,
so the code is checked with the runtime of this working tree.
"""

from __future__ import annotations

import ast
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from codegen.diff.git import extract, has
from codegen.diff.report import Report, UserCode
from codegen.diff.sources import Side
from codegen.diff.user_code.predictions import Code, Predictions
from codegen.diff.user_code.type_checker import run_mypy
from codegen.emit.modules import emit_package, emit_profile
from codegen.errors import SourceError
from codegen.files import GENERATED_FOLDER, write_files
from codegen.pinned.profiles import Profile
from codegen.regen import PACKAGE

_RUNTIME = "runtime"


def check_user_code(folder: str, report: Report, base: Side, head: Side, repository: Path) -> Report:
    """Return the report with the failures of a folder's code at the base.

    Raises:
        SourceError: the base isn't a git ref or has no such folder, or the code can't be checked.
    """
    if Path(base.label).is_dir():
        raise SourceError(
            f"User code can only be checked at a git ref; {base.label} is a folder. Give a git ref as base."
        )
    folder = _find_folder(folder, base.label, repository)
    with tempfile.TemporaryDirectory(prefix="acp-user-code-") as temporary:
        root = Path(temporary).resolve()
        extract(base.label, repository, root / "base", GENERATED_FOLDER, _RUNTIME, folder)
        modules = _read_modules(root / "base", folder, base.label)
        write_files(root / "head" / PACKAGE, _generate(base, head))
        problems = run_mypy(root / "base", folder, [root / "head", repository / _RUNTIME])
        if problems:
            packages_of_base = [root / "base" / GENERATED_FOLDER, root / "base" / _RUNTIME]
            old = {problem.identity for problem in run_mypy(root / "base", folder, packages_of_base)}
            problems = [problem for problem in problems if problem.identity not in old]
    predictions = Predictions(report.findings, base, head)
    predicted = [predictions.find(problem, modules[problem.file]) for problem in problems]
    findings = tuple(
        replace(finding, failures=tuple(failure for failure, predicting in predicted if finding in predicting))
        for finding in report.findings
    )
    user_code = UserCode(
        folder=folder,
        files=len(modules),
        failures=len(predicted),
        unpredicted=tuple(failure for failure, predicting in predicted if not predicting),
    )
    return replace(report, findings=findings, user_code=user_code)


def _find_folder(folder: str, ref: str, repository: Path) -> str:
    """Return the path of a folder in the repository, which a git ref must have."""
    root = repository.resolve()
    path = (root / folder).resolve()
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
    if not name or not has(ref, repository, name):
        raise SourceError(
            f"{ref} has no {folder}. User code is checked as it was committed at the base: commit the folder in this "
            "repository, and give that commit as the base."
        )
    return name


def _read_modules(root: Path, folder: str, label: str) -> dict[str, Code]:
    """Return the Python files in a folder, by their paths in `root`."""
    modules: dict[str, Code] = {}
    for path in sorted((root / folder).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        try:
            text = path.read_text("utf-8")
            modules[name] = Code(name, ast.parse(text), text.split("\n"), set(re.findall(r"\w+", text)))
        except (SyntaxError, ValueError) as error:
            version = sys.version.split()[0]
            raise SourceError(f"{name} of {label} can't be parsed by Python {version}: {error}.") from error
    if not modules:
        raise SourceError(f"{folder} of {label} is not a folder with Python files.")
    return modules


def _generate(base: Side, head: Side) -> dict[str, bytes]:
    """Generate the head's package, unformatted.

    A profile that only the base has becomes an empty module, so that user code doesn't import the installed one.
    """
    profiles = {name: Profile(name, snapshot.file, "", "", head.version) for name, snapshot in head.profiles.items()}
    files = emit_package(list(profiles.values()))
    files |= {f"{name}.py": "" for name in base.profiles if name not in profiles}
    for name, profile in profiles.items():
        emitted = emit_profile(profile, head.profiles[name].schema)
        files |= {f"{name}/{file}": text for file, text in emitted.items()}
    return {path: text.encode() for path, text in files.items()}
