"""Writes the numbers of docs/project/mutants.md."""

from __future__ import annotations

from tools.mutants.folders import FOLDERS, PAGE
from tools.mutants.results import read_folder, write_table

_MARK = "<!-- Below: written by `make mutants`. -->\n"


def write_page() -> None:
    """Write what the last runs found below the mark. The rows of folders that were not tried in this clone stay."""
    head, _, before = PAGE.read_text().partition(_MARK)
    folders = [folder for folder in map(read_folder, FOLDERS) if folder is not None]
    rows = _rows(before.splitlines()) | _rows(write_table(folders))
    lines = [*write_table([]), *(rows[folder] for folder in FOLDERS if folder in rows)]
    PAGE.write_text(head + _MARK + "\n" + "\n".join(lines) + "\n")


def _rows(lines: list[str]) -> dict[str, str]:
    """Return the rows of a table by their folder."""
    return {line.split()[1]: line for line in lines if line.startswith("| ")}
