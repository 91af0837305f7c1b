"""Runs mypy in strict mode on user code. Of the project's type checkers, it is the fastest for this."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.errors import SourceError
from codegen.regen import PACKAGE

# Options that only report knock-on errors are off: unneeded code, and types that are unknown because something failed.
_SETTINGS = """\
[mypy]
strict = True
enable_error_code = exhaustive-match
explicit_package_bases = True
follow_imports = silent
disallow_subclassing_any = False
warn_redundant_casts = False
warn_return_any = False
warn_unused_ignores = False
"""
# mypy writes a class with its module if two classes have the same name. Users write it with its profile.
_MODULE = re.compile(rf"\b{PACKAGE}\.(\w+)\.(?:[a-z]\w*\.)+(?=[A-Z])")


@dataclass(frozen=True)
class Problem:
    """An error of mypy. `kind` is its error code."""

    file: str
    line: int
    column: int
    kind: str
    message: str
    hint: str

    @property
    def identity(self) -> tuple[str, int, int, str]:
        """What identifies an error, even if its message differs between two versions: its place and its kind."""
        return self.file, self.line, self.column, self.kind


def run_mypy(root: Path, folder: str, packages: list[Path]) -> list[Problem]:
    """Check a folder in `root`. Packages in the folders `packages` take precedence over installed ones.

    mypy's cache is in `root`, or in `$MYPY_CACHE_DIR` if that is set, so a second check of the same root is faster.

    Raises:
        SourceError: mypy failed.
    """
    settings = root / "mypy.ini"
    settings.write_text(_SETTINGS, "utf-8")
    options = ["--config-file", str(settings), "--output", "json", "--show-column-numbers"]
    environment = {**os.environ, "MYPYPATH": os.pathsep.join(map(str, (root / folder, *packages)))}
    command = [sys.executable, "-m", "mypy", *options, folder]
    # mypy crashes if its cache is damaged, by a killed process or one that shares it. Then it gets a new cache.
    for cache in ([], ["--cache-dir", str(root / ".own_cache")]):
        process = subprocess.run(
            [*command, *cache], cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        errors = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
        has_crashed = process.returncode != (1 if errors else 0)
        if not has_crashed:
            break
    else:
        reasons = [error["message"] for error in errors] or process.stderr.splitlines() or ["it gave no reason"]
        raise SourceError(f"mypy can't check {folder}: {reasons[-1]}.")
    problems = (_read_problem(error) for error in errors if error["severity"] == "error")
    return sorted(problems, key=lambda problem: problem.identity)


def _read_problem(error: dict[str, Any]) -> Problem:
    return Problem(
        file=Path(error["file"]).as_posix(),
        line=error["line"],
        column=error["column"],
        kind=error["code"] or "",
        message=_MODULE.sub(r"\1.", error["message"]),
        hint=error["hint"] or "",
    )
