"""The generator's command line: `python -m codegen {fetch,regen,check,diff}`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from codegen.diff import command as diff
from codegen.errors import FetchError, FileError, SchemaError
from codegen.fetch import fetch
from codegen.regen import check, regenerate
from codegen.sources import SOURCES

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "schema"
GENERATED = ROOT / "generated"

Command: TypeAlias = Callable[[argparse.Namespace], int]


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 if all is well, 1 if `check` found drift, `diff` found what it is to fail on or the schema has something
        without a rule, 2 for wrong usage or a file or a source that is missing or isn't what it has to be.
    """
    options = _parser().parse_args(arguments)
    try:
        run: Command = options.run
        return run(options)
    except (FetchError, SchemaError) as error:
        print(f"codegen: {error}", file=sys.stderr)
        return 2 if isinstance(error, (FetchError, FileError)) else 1


def _fetch(options: argparse.Namespace) -> int:
    for line in fetch(options.source, options.schema):
        print(line)
    return 0


def _regen(options: argparse.Namespace) -> int:
    differing = regenerate(options.schema, options.output, pinned=options.schema == SCHEMA)
    for path in differing:
        print(path)
    print(f"{len(differing)} files changed" if differing else "nothing changed")
    return 0


def _check(options: argparse.Namespace) -> int:
    diff = check(options.schema, options.output)
    if diff:
        print(diff, end="")
        print("generated/ is not what the schema and codegen give. Run `make regen`.", file=sys.stderr)
    return 1 if diff else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m codegen", description="Typed bindings from the ACP schema.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, run, text in (
        ("regen", _regen, "write the packages of a folder of schemas"),
        ("check", _check, "print how the committed packages differ from what would be generated"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--schema", type=Path, default=SCHEMA, help="folder of schemas (default: schema/)")
        command.add_argument(
            "--output", type=Path, default=GENERATED, help="where the package goes (default: generated/)"
        )
        command.set_defaults(run=run)
    text = "pin the schemas of another release"
    command = commands.add_parser("fetch", help=text, description=text)
    command.add_argument("source", help=SOURCES)
    command.add_argument("--schema", type=Path, default=SCHEMA, help="folder of schemas (default: schema/)")
    command.set_defaults(run=_fetch)
    diff.add_options(commands.add_parser("diff", help=diff.TEXT, description=diff.TEXT), SCHEMA)
    return parser


if __name__ == "__main__":
    sys.exit(main())
