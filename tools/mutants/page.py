"""Writes the numbers and reasons of docs/project/mutants.md."""

from __future__ import annotations

from collections import Counter

from tools.mutants.folders import FOLDERS, PAGE
from tools.mutants.known import equivalent
from tools.mutants.results import read_folder, table

_MARK = "<!-- Below: written by `make mutants`. -->\n"


def write_page() -> None:
    """Write what the last runs found below the mark. The rows of folders that were not tried in this clone stay."""
    head, _, before = PAGE.read_text().partition(_MARK)
    folders = [folder for folder in map(read_folder, FOLDERS) if folder is not None]
    rows = _rows(before.partition("## Equivalent")[0].splitlines()) | _rows(table(folders))
    lines = [
        *table([]),
        *(rows[folder] for folder in FOLDERS if folder in rows),
        "",
        "## Equivalent",
        "",
        "These change nothing that a test could notice. `tools/mutants/equivalent.toml` has each:",
        "",
        "| reason | changes |",
        "|---|--:|",
    ]
    reasons = Counter(known.reason for known in equivalent())
    lines += [f"| {reason} | {count} |" for reason, count in reasons.most_common()]
    PAGE.write_text(head + _MARK + "\n" + "\n".join(lines) + "\n")


def _rows(lines: list[str]) -> dict[str, str]:
    """Return the rows of a table by their folder."""
    return {line.split()[1]: line for line in lines if line.startswith("| ")}
