"""The generator's command line: `python -m codegen {fetch,regen,check,diff,reference,upgrade}`."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NoReturn, TypeAlias

from codegen.errors import FetchError, OutputError, SchemaError, SourceError
from codegen.escaping import one_line
from codegen.files import GENERATED_FOLDER, SCHEMA_FOLDER, replace_folders, write_output

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / SCHEMA_FOLDER
GENERATED = ROOT / GENERATED_FOLDER

Command: TypeAlias = Callable[[argparse.Namespace], int]


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 on success. 1 if `check` found a difference, a finding of `diff` reaches `--fail-on`, or the generator has no
        rule for something in the schema. 2 for wrong usage, and for missing or invalid files and sources.
    """
    try:
        options = _make_parser().parse_args(arguments)
        run: Command = options.run
        return run(options)
    except (FetchError, SchemaError, SourceError, OutputError) as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _fail("Stopped. Nothing was changed.", 130)
    except OSError as error:
        path = error.filename2 or error.filename
        prefix = f"{os.fsdecode(path)}: " if isinstance(path, (str, bytes)) else ""
        reason = error.strerror or str(error) or type(error).__name__
        return _fail(f"{prefix}{reason}. Nothing was changed. Correct this, then run the command again.", 2)
    except Exception:
        traceback.print_exc()
        return _fail("This is a bug in codegen. Nothing was changed. Please report it with the lines above.", 2)


def _stop_once(*_: object) -> NoReturn:
    """Stop at the first Ctrl-C. Another one would leave temporary files."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _fail(message: str, code: int) -> int:
    if message:
        print(f"codegen: {one_line(message)}", file=sys.stderr)
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


def _reference(options: argparse.Namespace) -> int:
    from codegen.reference.pages import reference
    from codegen.regen import encode_files

    pages = reference(SCHEMA)
    replace_folders({options.folder: encode_files(pages)})
    write_output(f"{len(pages)} pages\n")
    return 0


def _import_later(module: str) -> Command:
    """Return a module's command. The module is imported when the command runs."""

    def run(options: argparse.Namespace) -> int:
        code: int = import_module(module).run(options)
        return code

    return run


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage in one sentence, like other errors."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"codegen: {message[:1].upper()}{message[1:]}. Run `{self.prog} --help` for the options.\n")


def _make_parser() -> argparse.ArgumentParser:
    from codegen.pinned.fetch import SOURCES

    parser = _Parser(prog="python -m codegen", description="Typed bindings from the ACP schema.")
    commands = parser.add_subparsers(required=True, metavar="command")

    def add(name: str, run: Command, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        return command

    regen = add("regen", _regen, "generate the packages from a folder of schemas")
    check = add("check", _check, "print the difference between the committed packages and newly generated ones")
    fetch = add("fetch", _fetch, "replace the pinned schemas with those of another release")
    for command in (regen, check, fetch):
        command.add_argument("--schema", type=Path, default=SCHEMA, help="folder of schemas (default: schema/)")
    for command in (regen, check):
        command.add_argument(
            "--output", type=Path, default=GENERATED, help="folder of the packages (default: generated/)"
        )
    fetch.add_argument("source", help=SOURCES)
    text = "compare two sets of schemas: what changed, who is affected, and whether it breaks them"
    _add_diff_options(add("diff", _import_later("codegen.diff_command"), text))
    text = "write the protocol reference: Markdown pages about every method and every type"
    reference = add("reference", _reference, text)
    reference.add_argument("folder", type=Path, help="folder to write the pages to; all its files are replaced")
    text = "adopt another release of the schema: fetch, regen, report, changelog entry and version, without a commit"
    upgrade = add("upgrade", _import_later("codegen.upgrade.command"), text)
    upgrade.add_argument("source", help=SOURCES)
    text = "also write the report to this folder, as Markdown and as JSON"
    upgrade.add_argument("--report", type=Path, metavar="FOLDER", help=text)
    return parser


def _add_diff_options(diff: argparse.ArgumentParser) -> None:
    side = "a git ref or a folder of schemas"
    diff.add_argument("--base", required=True, metavar="SIDE", help=f"the old side: {side}")
    diff.add_argument(
        "--head",
        default=str(SCHEMA),
        metavar="SIDE",
        help=f"the new side: {side} (default: schema/ as it is)",
    )
    diff.add_argument(
        "--format",
        choices=("markdown", "json", "github"),
        default="markdown",
        help="the report's format (default: markdown)",
    )
    diff.add_argument(
        "--fail-on",
        choices=("wire", "breaking", "risky", "never"),
        default="never",
        help=(
            "exit with 1 if the stable profile has a finding this bad (wire: it breaks messages), or if user code "
            "fails and no finding predicts it (default: never)"
        ),
    )
    diff.add_argument(
        "--user-code",
        metavar="FOLDER",
        help="type-check this folder's code at the base, which must be a git ref, against the head's package",
    )


if __name__ == "__main__":
    gc.disable()  # saves a tenth of the time, and the process ends soon
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # a background job ignores it
        signal.signal(signal.SIGINT, _stop_once)
    sys.exit(main())
