"""mypy, strict, as what user code is checked with: of the type checkers here it takes the fewest seconds.

It knows nothing of findings.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.errors import SourceError

# What is off complains of code that is no longer needed, or of a type that is unknown since something else failed.
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


@dataclass(frozen=True)
class Problem:
    """An error of the type checker: where, which kind, and its words. `hint` is what it proposes."""

    file: str
    line: int
    column: int
    kind: str
    message: str
    hint: str

    @property
    def place(self) -> tuple[str, int, int, str]:
        """What it has in common with the same error in other words."""
        return self.file, self.line, self.column, self.kind


def check(root: Path, folder: str, packages: list[Path]) -> list[Problem]:
    """Check the files of a folder below `root`, with packages from these folders before any that is installed.

    mypy keeps what it knows of every module below `root`, so that a second check of the same root is short, or in
    `$MYPY_CACHE_DIR` if that is set. What it reads again is decided by what the files hold.

    Raises:
        SourceError: the type checker didn't come to a result.
    """
    settings = root / "mypy.ini"
    settings.write_text(_SETTINGS, "utf-8")
    options = ["--config-file", str(settings), "--output", "json", "--show-column-numbers"]
    environment = {**os.environ, "MYPYPATH": os.pathsep.join(map(str, (root / folder, *packages)))}
    command = [sys.executable, "-m", "mypy", *options, folder]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode not in (0, 1) or bool(done.returncode) != bool(found):
        said = [each["message"] for each in found] or done.stderr.splitlines() or ["no word"]
        raise SourceError(f"mypy can't check {folder}: {said[-1]}.")
    return sorted((_problem(each) for each in found if each["severity"] == "error"), key=lambda each: each.place)


def _problem(found: dict[str, Any]) -> Problem:
    file = Path(found["file"]).as_posix()
    return Problem(file, found["line"], found["column"], found["code"] or "", found["message"], found["hint"] or "")
