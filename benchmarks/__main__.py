"""The command line: `python -m benchmarks [<row> ...]`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.implementations import FailedError, Implementations
from benchmarks.measuring import Row, measure
from benchmarks.results import describe_machine, find_versions, summarize
from benchmarks.rows import all_rows
from benchmarks.setup import Setup
from benchmarks.table import text_lines

Number = TypeVar("Number", int, float)


class UsageError(Exception):
    """The arguments are wrong. The message says which ones are possible."""


def main(arguments: list[str] | None = None) -> int:
    """Measure the selected rows and print the results.

    Returns:
        0 if every row was measured, even if targets are missed; 1 if a program failed; 2 for wrong usage.
    """
    options = _options(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            _measure(options, Path(folder))
    except UsageError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    except FailedError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    return 0


def _measure(options: argparse.Namespace, folder: Path) -> None:
    """Measure rows, and print each. The file has what was measured until then, if the rest takes too long."""
    implementations = Implementations(with_peers=options.peers)
    setup = Setup(implementations, options.scale, folder)
    results: list[dict[str, Any]] = []
    settings = {
        "machine": describe_machine(),
        "versions": find_versions(implementations),
        "rounds": options.rounds,
        "scale": options.scale,
    }
    for row in _selected(all_rows(setup), options):
        results.append(summarize(row, measure(row, options.rounds, _progress)))
        _progress("")
        print("\n".join(text_lines(results[-1])), flush=True)
        if options.json:
            options.json.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({**settings, "rows": results}, indent=1)
            options.json.write_text(f"{text}\n", "utf-8")


def _selected(rows: list[Row], options: argparse.Namespace) -> list[Row]:
    names = [row.name for row in rows]
    unknown = [name for name in options.rows if name not in names]
    if unknown:
        raise UsageError(f"There is no row called {', '.join(unknown)}. The rows are {', '.join(names)}.")
    return [row for row in rows if not options.rows or row.name in options.rows]


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure how fast this package is.")
    parser.add_argument("rows", nargs="*", help="the rows to measure (default: all)")
    parser.add_argument("--rounds", type=_positive(int), default=7, help="how often to measure each row (default: 7)")
    parser.add_argument(
        "--scale", type=_positive(float), default=1.0, help="multiply the numbers of messages by this (default: 1)"
    )
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="don't measure the official SDKs")
    parser.add_argument("--json", type=Path, help="a file to write the results to")
    return parser.parse_args(arguments)


def _positive(kind: Callable[[str], Number]) -> Callable[[str], Number]:
    def number(text: str) -> Number:
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text} is not greater than 0")
        return value

    return number


def _progress(text: str) -> None:
    """Show a line of progress on a terminal, in place of the previous one."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
