"""`python -m codegen diff`: compare two sides, print the report, and return the exit code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from codegen.diff.render.github import write_github
from codegen.diff.render.json import write_json
from codegen.diff.render.markdown import write_markdown
from codegen.diff.report import compare
from codegen.diff.sources import ACCEPTED, read_side
from codegen.diff.user_code.check import check_user_code
from codegen.diff.verdict.verdicts import Severity
from codegen.files import write_output

REPOSITORY = Path(__file__).resolve().parent.parent
_FORMATS = {"markdown": write_markdown, "json": write_json}
_THRESHOLDS = {"wire": Severity.WIRE, "breaking": Severity.PYTHON, "risky": Severity.RISKY, "never": None}


def run(options: argparse.Namespace) -> int:
    """Compare two sides, and print the report.

    Returns:
        The exit code. 2 if an accepted finding no longer exists, or the stable profile can't be read. 1 if a finding
        reaches the `--fail-on` threshold, or user code fails and no finding predicts it. Otherwise, and with
        `--fail-on never`, 0.

    Raises:
        SourceError: a side can't be read.
    """
    base, head = read_side(options.base, REPOSITORY), read_side(options.head, REPOSITORY)
    report = compare(base, head)
    if options.user_code:
        report = check_user_code(options.user_code, report, base, head, REPOSITORY)
    reconfigure: Any = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:  # the terminal's encoding, or UTF-8 in a file
        reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace")
    write_output(
        write_github(report, head, REPOSITORY) if options.format == "github" else _FORMATS[options.format](report)
    )
    if report.stale:
        stale = ", ".join(report.stale)
        sentence = f"{ACCEPTED} accepts {stale}, but no finding has this fingerprint. Remove the entry."
        print(f"codegen: {sentence}", file=sys.stderr)
        return 2
    if not report.has_stable:
        print("codegen: The stable profile is not compared. The notes of the report say why.", file=sys.stderr)
        return 2
    threshold = _THRESHOLDS[options.fail_on]
    return int(threshold is not None and (report.severity >= threshold or bool(report.unpredicted)))
