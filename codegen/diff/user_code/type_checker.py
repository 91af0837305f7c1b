"""Run mypy in strict mode on user code. Of the type checkers that the project uses, it is the fastest here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.errors import SourceError

# The options that are off only report knock-on errors: code that is no longer needed, or types that are unknown because
# something else failed.
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
    """An error of the type checker. `kind` is its error code, and `hint` what it proposes."""

    file: str
    line: int
    column: int
    kind: str
    message: str
    hint: str

    @property
    def place(self) -> tuple[str, int, int, str]:
        """The place and kind, which are the same for an error that has a different message on the other side."""
        return self.file, self.line, self.column, self.kind


def check(root: Path, folder: str, packages: list[Path]) -> list[Problem]:
    """Check a folder in `root`. Packages in the folders `packages` take precedence over installed ones.

    mypy's cache is in `root`, or in `$MYPY_CACHE_DIR` if that is set, so a second check of the same root is faster.

    Raises:
        SourceError: the type checker failed.
    """
    settings = root / "mypy.ini"
    settings.write_text(_SETTINGS, "utf-8")
    options = ["--config-file", str(settings), "--output", "json", "--show-column-numbers"]
    environment = {**os.environ, "MYPYPATH": os.pathsep.join(map(str, (root / folder, *packages)))}
    command = [sys.executable, "-m", "mypy", *options, folder]
    # Processes that share a cache, or were killed, can damage it, so that mypy crashes. Then it gets one of its own.
    for cache in ([], ["--cache-dir", str(root / ".own_cache")]):
        done = subprocess.run(
            [*command, *cache], cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode in (0, 1) and bool(done.returncode) == bool(found):
            break
    else:
        reasons = [each["message"] for each in found] or done.stderr.splitlines() or ["it gave no reason"]
        raise SourceError(f"mypy can't check {folder}: {reasons[-1]}.")
    return sorted((_problem(each) for each in found if each["severity"] == "error"), key=lambda each: each.place)


def _problem(found: dict[str, Any]) -> Problem:
    file = Path(found["file"]).as_posix()
    return Problem(file, found["line"], found["column"], found["code"] or "", found["message"], found["hint"] or "")
