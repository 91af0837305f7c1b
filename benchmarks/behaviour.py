"""Measures what this package and the official Python SDK do, and writes the table of docs/which-sdk.md."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from acp_runtime import __version__
from benchmarks.implementations import environment
from tools.third_party import NEXT_PYTHON_SDK, PYTHON_SDK, python_in, python_sdk

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "which-sdk.md"
OURS = f"acp-bindings=={__version__}"
SDKS = (PYTHON_SDK, NEXT_PYTHON_SDK, OURS)
START, END = "<!-- behaviour: start -->\n", "<!-- behaviour: end -->"


def measure(sdk: str) -> dict[str, str]:
    """Return what an SDK does, by situation.

    Raises:
        UnavailableError: it can't be installed.
    """
    python = sys.executable if sdk == OURS else str(python_in(python_sdk(sdk)))
    command = [python, "-m", f"benchmarks.programs.{'ours' if sdk == OURS else 'python_sdk'}.behaviour"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    cells: dict[str, str] = json.loads(done.stdout)
    return cells


def table(columns: dict[str, dict[str, str]]) -> str:
    """Return what the SDKs do as Markdown."""
    heads = [f"`{name}` {version}" for name, _, version in (sdk.partition("==") for sdk in columns)]
    rows = [[label, *(cells[label] for cells in columns.values())] for label in next(iter(columns.values()))]
    lines = [["", *heads], ["---"] * (len(columns) + 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def on_page() -> str:
    """Return the table of the page."""
    return PAGE.read_text("utf-8").partition(START)[2].partition(END)[0]


def main() -> None:
    with ThreadPoolExecutor() as threads:
        measured = table(dict(zip(SDKS, threads.map(measure, SDKS), strict=True)))
    print(measured, end="")
    PAGE.write_text(PAGE.read_text("utf-8").replace(START + on_page() + END, START + measured + END), "utf-8")


if __name__ == "__main__":
    main()
