"""Write `docs/project/performance.*` from results: `python -m benchmarks.report <file written with --json>`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from benchmarks import plot, table
from benchmarks.implementations import FLOOR, OURS, PEERS

DOCS = Path(__file__).resolve().parents[1] / "docs" / "project"
NAMES = (OURS, FLOOR, *PEERS)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report", description="Write docs/project/performance.*."
    )
    parser.add_argument("results", type=Path, help="a file that `python -m benchmarks --json` wrote")
    path: Path = parser.parse_args(arguments).results
    if not path.is_file():
        print(f"benchmarks: {path} doesn't exist. `make bench` measures and writes it.", file=sys.stderr)
        return 2
    text = path.read_text("utf-8")
    for name, content in {"performance.json": text, **render(json.loads(text))}.items():
        (DOCS / name).write_text(content, "utf-8")
    return 0


def render(results: dict[str, Any]) -> dict[str, str]:
    """Render the page and its plot, by their file names in `docs/project/`."""
    templates = FileSystemLoader(Path(__file__).parent / "templates")
    environment = Environment(loader=templates, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.get_template("performance.md.jinja").render(results=results, names=NAMES, table=table)
    drawn = environment.get_template("performance.svg.jinja").render(plot=plot.of(results))
    return {"performance.md": page + "\n", "performance.svg": drawn + "\n"}


if __name__ == "__main__":
    sys.exit(main())
