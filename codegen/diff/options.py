"""The options of `python -m codegen diff`."""

from __future__ import annotations

import argparse
from pathlib import Path

TEXT = "say what differs between two sets of schemas, for whom, and whether it breaks them"
FORMATS = ("terminal", "markdown", "json", "github", "html")
THRESHOLDS = ("breaking", "risky", "never")


def add_options(parser: argparse.ArgumentParser, schema: Path) -> None:
    """Add them. `schema` is the folder to compare with when no head is given."""
    where = "a git ref or a folder of schemas"
    parser.add_argument("--base", required=True, metavar="WHERE", help=f"what to compare with: {where}")
    parser.add_argument("--head", default=str(schema), metavar="WHERE", help=f"{where} (default: schema/ as it is)")
    parser.add_argument("--format", choices=FORMATS, default="terminal")
    parser.add_argument(
        "--fail-on",
        choices=THRESHOLDS,
        default="never",
        help="exit with 1 if the stable profile has such a finding, or no finding predicts what user code fails with",
    )
    parser.add_argument(
        "--user-code",
        metavar="FOLDER",
        help="type-check the code in this folder as of the base, a git ref, with the head",
    )
