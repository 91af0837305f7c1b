"""`python -m codegen diff`: its options, and what its exit code says."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from codegen.diff.accepted import read_accepted
from codegen.diff.render.github import github
from codegen.diff.render.html import html
from codegen.diff.render.machine import machine
from codegen.diff.render.markdown import markdown
from codegen.diff.render.terminal import terminal
from codegen.diff.report import Report, compare
from codegen.diff.sources import ACCEPTED, SourceError, read_side
from codegen.diff.user_code import check_user_code
from codegen.diff.verdicts import Verdict

REPOSITORY = Path(__file__).resolve().parent.parent.parent
TEXT = "say what differs between two sets of schemas, for whom, and whether it breaks them"
_FORMATS: dict[str, Callable[[Report], str]] = {
    "terminal": lambda report: terminal(report, colour=_has_colour()),
    "markdown": markdown,
    "json": machine,
    "github": github,
    "html": html,
}
_THRESHOLDS = {"breaking": Verdict.BREAKING, "risky": Verdict.RISKY, "never": None}


def add_options(parser: argparse.ArgumentParser, schema: Path) -> None:
    """The options of the command. `schema` is the folder to compare with when no head is given."""
    where = "a git ref or a folder of schemas"
    parser.add_argument("--base", required=True, metavar="WHERE", help=f"what to compare with: {where}")
    parser.add_argument("--head", default=str(schema), metavar="WHERE", help=f"{where} (default: schema/ as it is)")
    parser.add_argument("--format", choices=_FORMATS, default="terminal")
    parser.add_argument(
        "--fail-on",
        choices=_THRESHOLDS,
        default="never",
        help="exit with 1 if the stable profile has such a finding, or no finding predicts what user code fails with",
    )
    parser.add_argument(
        "--user-code",
        metavar="FOLDER",
        help="type-check the code in this folder as of the base, a git ref, with the head",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare and print.

    Returns:
        0, or 1 if a finding is as bad as `--fail-on` says or the report is incomplete, or 2 if a side can't be read or
        an acceptance is stale.
    """
    try:
        base, head = read_side(options.base, REPOSITORY), read_side(options.head, REPOSITORY)
        report = compare(base, head, read_accepted(head.accepted))
        if options.user_code:
            report = check_user_code(options.user_code, report, base, head, REPOSITORY)
    except SourceError as error:
        return _fail(str(error))
    print(_FORMATS[options.format](report), end="")
    if report.stale:
        which = ", ".join(report.stale)
        return _fail(f"{ACCEPTED} accepts {which}, which is no finding here. Remove what belongs to another upgrade.")
    threshold = _THRESHOLDS[options.fail_on]
    return int(threshold is not None and (report.worst >= threshold or bool(report.unpredicted)))


def _fail(sentence: str) -> int:
    print(f"codegen: {sentence}", file=sys.stderr)
    return 2


def _has_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
