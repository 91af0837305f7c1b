"""Counts the mistakes in tests/typing/mistakes/ that ty and pyrefly report; docs/guides/models.md has the results.

Run it by hand: `pip install ty pyrefly`, then `python -m tools.other_type_checkers`. It prints the lines that
each tool misses, with its defaults and, for pyrefly, with its preset "default".
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.paths import ROOT

MISTAKES = ROOT / "tests" / "typing" / "mistakes"
_REMARK = re.compile(r"  # (?:type|pyright): ignore.*")
_REPORT = re.compile(r"^(?:ERROR )?(\w+\.py):(\d+)", re.MULTILINE)

TY = ["ty", "check", "--output-format", "concise", "--python", sys.prefix]
PYREFLY = ["pyrefly", "check", "--output-format", "min-text", "--python-interpreter-path", sys.executable]
COMMANDS = {"ty": TY, "pyrefly": PYREFLY, "pyrefly --preset default": [*PYREFLY, "--preset", "default"]}


def find_mistakes(file: Path) -> Iterator[tuple[range, str]]:
    """Yield the mistakes of a file: the lines of the statement, and the line with the remark."""
    text = file.read_text("utf-8")
    statements = [
        range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and not hasattr(node, "body")
    ]
    for number, line in enumerate(text.splitlines(), 1):
        if _REMARK.search(line):
            around = [lines for lines in statements if number in lines]
            yield min(around, key=len, default=range(number, number + 1)), line


def find_reported_lines(command: list[str]) -> set[tuple[str, int]]:
    """Return the files and lines that a tool reports, without the remarks that suppress reports."""
    with TemporaryDirectory() as folder:
        for file in MISTAKES.glob("*.py"):
            (Path(folder) / file.name).write_text(_REMARK.sub("", file.read_text("utf-8")), "utf-8")
        output = subprocess.run(
            [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False
        ).stdout
    return {(file, int(line)) for file, line in _REPORT.findall(output)}


def main() -> None:
    """Print the results."""
    known = [(file.name, *mistake) for file in sorted(MISTAKES.glob("*.py")) for mistake in find_mistakes(file)]
    for name, command in COMMANDS.items():
        reported = find_reported_lines(command)
        missed = [
            (file, lines, line)
            for file, lines, line in known
            if not any((file, number) in reported for number in lines)
        ]
        print(f"{name} reports {len(known) - len(missed)} of {len(known)} mistakes. It misses:")
        for file, lines, line in missed:
            print(f"  {file}:{lines[0]}: {_REMARK.sub('', line).strip()}")


if __name__ == "__main__":
    main()
