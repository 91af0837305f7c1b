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
from benchmarks.results import machine, result_of, versions
from benchmarks.rows import all_rows
from benchmarks.setup import Setup
from benchmarks.table import lines_of

Number = TypeVar("Number", int, float)


class UsageError(Exception):
    """What was asked for can't be done, and what can."""


def main(arguments: list[str] | None = None) -> int:
    """Measure and print.

    Returns:
        0 if all was measured, whether bars are reached or not; 1 if a program failed; 2 for wrong usage.
    """
    options = _options(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            results = _measure(options, Path(folder))
    except UsageError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    except FailedError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    return 0


def _measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    implementations = Implementations(with_peers=options.peers)
    setup = Setup(implementations, options.scale, folder)
    results: list[dict[str, Any]] = []
    for row in _chosen(all_rows(setup), options):
        results.append(result_of(row, measure(row, options.rounds, _progress)))
        _progress("")
        print("\n".join(lines_of(results[-1])), flush=True)
    return {
        "machine": machine(),
        "versions": versions(implementations),
        "rounds": options.rounds,
        "scale": options.scale,
        "rows": results,
    }


def _chosen(rows: list[Row], options: argparse.Namespace) -> list[Row]:
    names = [row.name for row in rows]
    unknown = [each for each in options.rows if each not in names]
    if unknown:
        raise UsageError(f"There is no row {', '.join(unknown)}. The rows are {', '.join(names)}.")
    return [row for row in rows if not options.rows or row.name in options.rows]


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure how fast this package is.")
    parser.add_argument("rows", nargs="*", help="which rows to measure (default: all)")
    parser.add_argument("--rounds", type=_positive(int), default=7, help="how often (default: 7)")
    parser.add_argument(
        "--scale", type=_positive(float), default=1.0, help="multiplies the numbers of messages (default: 1)"
    )
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="without the official SDKs")
    parser.add_argument("--json", type=Path, help="a file to write the results to")
    return parser.parse_args(arguments)


def _positive(kind: Callable[[str], Number]) -> Callable[[str], Number]:
    def number(text: str) -> Number:
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text} is not more than 0")
        return value

    return number


def _progress(text: str) -> None:
    """One line on a terminal that overwrites itself."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
