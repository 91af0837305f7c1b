"""The command-line options of `python -m codegen diff`."""

from __future__ import annotations

import argparse
from pathlib import Path

TEXT = "compare two sets of schemas: what changed, who is affected, and whether it breaks them"
FORMATS = ("markdown", "json", "github")
THRESHOLDS = ("wire", "breaking", "risky", "never")


def add_options(parser: argparse.ArgumentParser, schema: Path) -> None:
    """Add the options to a parser. `schema` is the default head."""
    where = "a git ref or a folder of schemas"
    parser.add_argument("--base", required=True, metavar="WHERE", help=f"the old side: {where}")
    parser.add_argument(
        "--head", default=str(schema), metavar="WHERE", help=f"the new side: {where} (default: schema/ as it is)"
    )
    parser.add_argument("--format", choices=FORMATS, default="markdown", help="the report's format (default: markdown)")
    parser.add_argument(
        "--fail-on",
        choices=THRESHOLDS,
        default="never",
        help="exit with 1 if the stable profile has a finding this bad (wire: it breaks messages), or if no finding "
        "predicts a failure of user code (default: never)",
    )
    parser.add_argument(
        "--user-code",
        metavar="FOLDER",
        help="type-check the code that this folder has at the base, a git ref, against the head's package",
    )
