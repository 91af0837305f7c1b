"""`python -m codegen diff`: compare two sides, print the report, and return the exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codegen.console import write_output
from codegen.diff.render.github import github
from codegen.diff.render.html import html
from codegen.diff.render.json import json_text
from codegen.diff.render.markdown import markdown
from codegen.diff.render.terminal import terminal
from codegen.diff.report import Report, compare
from codegen.diff.sources import ACCEPTED, read_side
from codegen.diff.user_code.check import check_user_code
from codegen.diff.verdict.accepted import read_accepted
from codegen.diff.verdict.verdicts import Verdict

REPOSITORY = Path(__file__).resolve().parent.parent.parent
_FORMATS: dict[str, Callable[[Report], str]] = {
    "terminal": lambda report: terminal(report, colour=_has_colour()),
    "markdown": markdown,
    "json": json_text,
    "github": github,
    "html": html,
}
_THRESHOLDS = {"breaking": Verdict.BREAKING, "risky": Verdict.RISKY, "never": None}


def run(options: argparse.Namespace) -> int:
    """Compare two sides and print the report.

    Returns:
        The exit code: 2 if an acceptance is stale; otherwise 1 if a finding reaches the `--fail-on` threshold, or if
        user code fails and no finding predicts it (unless the threshold is `never`); otherwise 0.

    Raises:
        SourceError: a side can't be read.
    """
    base, head = read_side(options.base, REPOSITORY), read_side(options.head, REPOSITORY)
    report = compare(base, head, read_accepted(head.accepted))
    if options.user_code:
        report = check_user_code(options.user_code, report, base, head, REPOSITORY)
    _print(_FORMATS[options.format](report), for_a_file=options.format != "terminal")
    if report.stale:
        stale = ", ".join(report.stale)
        return _fail(f"{ACCEPTED} accepts {stale}, but no finding has this fingerprint. Remove the entry.")
    threshold = _THRESHOLDS[options.fail_on]
    return int(threshold is not None and (report.worst >= threshold or bool(report.unpredicted)))


def _print(text: str, *, for_a_file: bool) -> None:
    """Print a report: in UTF-8 if it is for a file, otherwise in the terminal's encoding."""
    reconfigure: Any = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:
        reconfigure(encoding="utf-8" if for_a_file else None, errors="backslashreplace")
    write_output(text)


def _fail(sentence: str) -> int:
    print(f"codegen: {sentence}", file=sys.stderr)
    return 2


def _has_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
