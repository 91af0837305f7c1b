"""The generator's command line: `python -m codegen {fetch,regen,check,diff,compatibility,reference,upgrade}`."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeAlias

from codegen.console import TRACEBACK, OutputError, internal_error_message, system_error_message, write_output
from codegen.errors import FetchError, SchemaError, SourceError
from codegen.signals import catch_signals

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "schema"
GENERATED = ROOT / "generated"

Command: TypeAlias = Callable[[argparse.Namespace], int]


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 on success; 1 if `check` found a difference, `diff` found what `--fail-on` names, or the schema has something
        that the generator has no rule for; 2 for wrong usage and for files and sources that are missing or invalid.
    """
    options = _parser().parse_args(arguments)
    try:
        run: Command = options.run
        return run(options)
    except (FetchError, SchemaError, SourceError, OutputError) as error:
        return _fail(str(error), error.exit_code)
    except OSError as error:
        return _fail(system_error_message(error), 2)
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        return _fail(internal_error_message(error), 2)


def _fail(message: str, code: int) -> int:
    if message:
        print(f"codegen: {message}", file=sys.stderr)
    return code


def _fetch(options: argparse.Namespace) -> int:
    from codegen.pinned.fetch import fetch

    write_output("".join(f"{line}\n" for line in fetch(options.source, options.schema)))
    return 0


def _regen(options: argparse.Namespace) -> int:
    from codegen.regen import regenerate

    differing = regenerate(options.schema, options.output, pinned=options.schema == SCHEMA)
    changed = f"{len(differing)} files changed" if differing else "nothing changed"
    write_output("".join(f"{line}\n" for line in (*differing, changed)))
    return 0


def _check(options: argparse.Namespace) -> int:
    from codegen.regen import check

    difference = check(options.schema, options.output)
    write_output(difference)
    if difference:
        print("generated/ is out of date. Run `make regen` and commit the result.", file=sys.stderr)
    return 1 if difference else 0


def _diff(options: argparse.Namespace) -> int:
    from codegen.diff.command import run

    return run(options)


def _compatibility(options: argparse.Namespace) -> int:
    from codegen.compatibility.command import run

    return run(options)


def _reference(options: argparse.Namespace) -> int:
    from codegen.reference.command import run

    return run(options)


def _upgrade(options: argparse.Namespace) -> int:
    from codegen.upgrade.command import run

    return run(options)


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage in one sentence, as other errors are reported."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"codegen: {message[:1].upper()}{message[1:]}. Run `{self.prog} --help` for the options.\n")


def _parser() -> argparse.ArgumentParser:
    from codegen.diff import options as diff
    from codegen.pinned.sources import SOURCES

    parser = _Parser(prog="python -m codegen", description="Typed bindings from the ACP schema.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, run, text in (
        ("regen", _regen, "generate the packages from a folder of schemas"),
        ("check", _check, "print the difference between the committed packages and newly generated ones"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--schema", type=Path, default=SCHEMA, help="folder of schemas (default: schema/)")
        command.add_argument(
            "--output", type=Path, default=GENERATED, help="folder to write the packages to (default: generated/)"
        )
        command.set_defaults(run=run)
    text = "replace the pinned schemas with those of another release"
    command = commands.add_parser("fetch", help=text, description=text)
    command.add_argument("source", help=SOURCES)
    command.add_argument("--schema", type=Path, default=SCHEMA, help="folder of schemas (default: schema/)")
    command.set_defaults(run=_fetch)
    command = commands.add_parser("diff", help=diff.TEXT, description=diff.TEXT)
    diff.add_options(command, SCHEMA)
    command.set_defaults(run=_diff)
    text = "check code that is right for older releases with today's package, and write docs/project/compatibility.md"
    command = commands.add_parser("compatibility", help=text, description=text)
    command.set_defaults(run=_compatibility)
    text = "write the protocol reference: Markdown pages about every method and every type"
    command = commands.add_parser("reference", help=text, description=text)
    command.add_argument("folder", type=Path, help="folder to write the pages to; it is replaced as a whole")
    command.set_defaults(run=_reference)
    text = "adopt another release of the schema: fetch, regen, report, changelog entry and version, without a commit"
    command = commands.add_parser("upgrade", help=text, description=text)
    command.add_argument("source", help=SOURCES)
    command.add_argument("--report", type=Path, metavar="FOLDER", help="also write the report there, in three formats")
    command.set_defaults(run=_upgrade)
    return parser


if __name__ == "__main__":
    gc.disable()  # saves a tenth of the time, and the process ends soon
    catch_signals()
    sys.exit(main())
