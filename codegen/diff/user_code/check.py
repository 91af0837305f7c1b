"""Type-check the base's user code with the head's package, and attach each failure to the finding that predicts it.

Failures that also occur with the base's own package and runtime are ignored. The head's package is generated from the
head's schemas by this codegen, so it is checked with the runtime of this working tree.
"""

from __future__ import annotations

import ast
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from codegen.diff.git import extract
from codegen.diff.report import Report, UserCode
from codegen.diff.sources import Side
from codegen.diff.user_code.predictions import Code, Predictions
from codegen.diff.user_code.type_checker import check
from codegen.emit.modules import emit_package, emit_profile
from codegen.errors import SourceError
from codegen.files import write_files
from codegen.pinned.profiles import Profile
from codegen.regen import PACKAGE

_GENERATED, _RUNTIME = "generated", "runtime"


def check_user_code(folder: str, report: Report, base: Side, head: Side, repository: Path) -> Report:
    """Return the report with the failures of the user code that a folder of the repository has at the base.

    Raises:
        SourceError: the base isn't a git ref or has no such folder, or the code can't be checked.
    """
    if Path(base.label).is_dir():
        raise SourceError(
            f"User code can only be checked at a git ref; {base.label} is a folder. Give a git ref as base."
        )
    folder = Path(folder).as_posix()
    with tempfile.TemporaryDirectory(prefix="acp-user-code-") as temporary:
        root = Path(temporary).resolve()
        extract(base.label, repository, root / "base", _GENERATED, _RUNTIME, folder)
        modules = _read(root / "base", folder, base.label)
        write_files(root / "head" / PACKAGE, _package(base, head))
        problems = check(root / "base", folder, [root / "head", repository / _RUNTIME])
        own = [root / "base" / _GENERATED, root / "base" / _RUNTIME]
        known = {each.place for each in check(root / "base", folder, own)} if problems else set[object]()
    predictions = Predictions(report.findings, base, head)
    found = [predictions.of(each, modules[each.file]) for each in problems if each.place not in known]
    unpredicted = tuple(failure for failure, predicting in found if not predicting)
    findings = tuple(
        replace(each, failures=tuple(failure for failure, predicting in found if each in predicting))
        for each in report.findings
    )
    return replace(report, findings=findings, user_code=UserCode(folder, len(modules), len(found), unpredicted))


def _read(root: Path, folder: str, label: str) -> dict[str, Code]:
    """Return the syntax tree, lines and words of each Python file in a folder, by its path in `root`."""
    found: dict[str, Code] = {}
    for path in sorted((root / folder).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        try:
            text = path.read_text("utf-8")
            found[name] = Code(name, ast.parse(text), text.split("\n"), set(re.findall(r"\w+", text)))
        except (SyntaxError, ValueError) as error:
            version = sys.version.split()[0]
            raise SourceError(f"{name} of {label} can't be parsed by Python {version}: {error}.") from error
    if not found:
        raise SourceError(f"{folder} of {label} is not a folder with Python files.")
    return found


def _package(base: Side, head: Side) -> dict[str, bytes]:
    """Generate the head's package, unformatted.

    A profile that only the base has becomes an empty module, so that user code doesn't import the installed one.
    """
    made = {name: Profile(name, each.file, "", "", head.version) for name, each in head.profiles.items()}
    files = emit_package(list(made.values())) | {f"{name}.py": "" for name in base.profiles if name not in made}
    for name, profile in made.items():
        emitted = emit_profile(profile, head.profiles[name].schema)
        files |= {f"{name}/{file}": text for file, text in emitted.items()}
    return {path: text.encode() for path, text in files.items()}
