"""What became of the changes of each folder, kept in build/mutants/ until a later run."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tools.mutants.changes import Change
from tools.mutants.folders import BUILD
from tools.paths import ROOT

RESULTS = ("killed", "survived", "equivalent", "unfinished")


@dataclass(frozen=True)
class Result:
    """What became of a change.

    Args:
        result: "killed", "survived", "equivalent" or "unfinished".
        by: the test that noticed it.
        how: how, if not by failing: "hangs" or "ends the process". Why, if it is equivalent.
        seconds: how long that took.
    """

    result: str
    by: str = ""
    how: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Folder:
    """A run over a folder.

    Args:
        code: the folder or file.
        commit: the commit whose code was changed.
        sample: how many of its changes were tried; None if all.
        seed: what chose the sample.
        changes: how many changes it has.
        results: what became of each, with its line.
    """

    code: str
    commit: str
    sample: int | None
    seed: int
    changes: int
    results: Sequence[tuple[Change, int, Result]]

    def count(self, result: str) -> int:
        """Return how many changes have this result."""
        return Counter(outcome.result for _, _, outcome in self.results)[result]

    def write(self) -> None:
        """Write the results to build/mutants/."""
        data = {
            "code": self.code,
            "commit": self.commit,
            "sample": self.sample,
            "seed": self.seed,
            "changes": self.changes,
            "results": [{**asdict(change), "line": line, **asdict(result)} for change, line, result in self.results],
        }
        BUILD.mkdir(parents=True, exist_ok=True)
        path = BUILD / f"{self.code.replace('/', '-')}.json"
        path.write_text(json.dumps(data, indent=1) + "\n")


def read_folder(code: str) -> Folder | None:
    """Return the last run over a folder, if there is one."""
    path = BUILD / f"{code.replace('/', '-')}.json"
    if not path.exists():
        return None
    data: dict[str, Any] = json.loads(path.read_text())
    results = [
        (
            Change(*(entry[name] for name in ("file", "function", "text", "old", "new", "nth"))),
            entry["line"],
            Result(entry["result"], entry["by"], entry["how"], entry["seconds"]),
        )
        for entry in data.pop("results")
    ]
    return Folder(**data, results=results)


def describe_commit() -> str:
    """Return the short name of the commit, with a plus sign if files differ from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no")
    return git("rev-parse", "--short=8", "HEAD") + ("+" if changed else "")


def write_table(folders: Sequence[Folder]) -> list[str]:
    """Return a table in Markdown."""
    rows = [
        "| folder | changes | tried | killed | survived | equivalent | seed | commit |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
    ]
    for folder in folders:
        killed, survived, equivalent, unfinished = (folder.count(result) for result in RESULTS)
        tried = len(folder.results) - unfinished
        seed = "all" if folder.sample is None else str(folder.seed)
        cells = (folder.code, folder.changes, tried, killed, survived, equivalent, seed, folder.commit)
        rows.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return rows
