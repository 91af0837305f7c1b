"""Writes the numbers and reasons of docs/project/mutants.md."""

from __future__ import annotations

from tools.mutants.folders import FOLDERS, PAGE
from tools.mutants.known import equivalent
from tools.mutants.results import read_folder, table

_MARK = "<!-- Below: written by `make mutants`. -->\n"


def write_page() -> None:
    """Write what the last runs found below the mark."""
    folders = [folder for folder in map(read_folder, FOLDERS) if folder is not None]
    lines = [
        *table(folders),
        "",
        "## Equivalent",
        "",
        "These changes leave what the code does as it is, so no test can notice them:",
        "",
    ]
    lines += ["| file | change | reason |", "|---|---|---|"]
    for known in equivalent():
        change = known.change
        lines.append(f"| {change.file} | {_code(change.old)} → {_code(change.new)} | {known.reason} |")
    head, _, _ = PAGE.read_text().partition(_MARK)
    PAGE.write_text(head + _MARK + "\n" + "\n".join(lines) + "\n")


def _code(text: str) -> str:
    text = " ".join(text.split()).replace("|", "\\|")
    return f"`{text}`" if len(text) <= 90 else f"`{text[:45]}…{text[-44:]}`"
