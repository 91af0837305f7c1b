"""Write `docs/project/performance.md` from results: `python -m benchmarks.report <file written with --json>`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from benchmarks import table
from benchmarks.implementations import FLOOR, OURS, PEERS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "project" / "performance.md"
NAMES = (OURS, FLOOR, *PEERS)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report", description="Write docs/project/performance.md."
    )
    parser.add_argument("results", type=Path, help="a file that `python -m benchmarks --json` wrote")
    path: Path = parser.parse_args(arguments).results
    if not path.is_file():
        print(f"benchmarks: {path} doesn't exist. `make bench` measures and writes it.", file=sys.stderr)
        return 2
    PAGE.write_text(render(json.loads(path.read_text("utf-8"))), "utf-8")
    return 0


def render(results: dict[str, Any]) -> str:
    templates = FileSystemLoader(Path(__file__).parent / "templates")
    environment = Environment(loader=templates, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.get_template("performance.md.jinja").render(results=results, names=NAMES, table=table)
    return page + "\n"


if __name__ == "__main__":
    sys.exit(main())
