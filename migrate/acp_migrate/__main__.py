"""The command: `acp-bindings migrate PATH... [--write] [--unstable]`, or `python -m acp_migrate`."""

from __future__ import annotations

import argparse
import difflib
import gc
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from acp_migrate.files import Changed, File, find, write
from acp_migrate.names import STABLE, UNSTABLE, load

if TYPE_CHECKING:
    from acp_migrate.migration import Result

_DESCRIPTION = """\
Rewrites programs that use agent-client-protocol for acp-bindings. Prints what would change as a diff; with --write,
changes the files instead. What is left to you is marked with a comment `# acp-migrate: ...`.
"""
_EXIT_CODES = (
    "exit codes: 0: nothing is left to do; 1: some places are marked; 2: a file can't be read, parsed or written"
)

_EVERY = 25  # files; a large one takes some seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 if nothing is left to do, 1 if places are left to a person, 2 if a file can't be read, parsed or written.
    """
    parser = argparse.ArgumentParser("python -m acp_migrate")
    add_migrate(parser)
    options = parser.parse_args(arguments)
    code: int = options.run(options)
    return code


def add_migrate(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command, and what runs it."""
    parser.description, parser.epilog = _DESCRIPTION, _EXIT_CODES
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="a Python file, or a folder with such files"
    )
    parser.add_argument("--write", action="store_true", help="change the files")
    parser.add_argument(
        "--unstable", action="store_true", help=f"import from {UNSTABLE}, which has what is not stable yet"
    )
    parser.set_defaults(run=_migrate)


def _migrate(options: argparse.Namespace) -> int:
    if find_spec("libcst") is None:
        return _complain("the package libcst is missing, which you get with: pip install 'acp-bindings[migrate]'")
    try:
        paths = [*find(options.paths)]
    except OSError as error:
        return _complain(str(error))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    gc.disable()  # what was read stays to the end: the collector would go through all of it, again and again
    try:
        return _run(paths, write_them=options.write, profile=UNSTABLE if options.unstable else STABLE)
    except KeyboardInterrupt:
        return _complain("interrupted; each file is either rewritten or as it was. Run this again on all of them.")
    except BrokenPipeError:  # such as `| head`
        sys.stdout = None
        return 2
    finally:
        gc.enable()


def _run(paths: Sequence[Path], *, write_them: bool, profile: str) -> int:
    from acp_migrate.migration import migrate

    failed = 0
    unwritten: list[Result] = []
    files: list[File] = []
    for path in paths:
        if path.suffix == ".ipynb":
            failed += 1
            _complain(f"{path} is a notebook: export it as a Python file first")
            continue
        try:
            files.append(File(path, path.read_bytes()))
        except OSError as error:
            failed += 1
            _complain(f"{path} can't be read: {error.strerror}")
    results = [*migrate(files, load(profile), _progress)]
    for result in results:
        if result.problem:
            failed += 1
            _complain(f"{result.file.path} is left as it is: {result.problem}")
        elif result.content != result.file.content:
            if not write_them:
                sys.stdout.writelines(_diff(result))
                continue
            try:
                write(result.file, result.content)
            except Changed:
                unwritten.append(result)
                _complain(f"{result.file.path} is left as it is: it has changed since it was read")
            except OSError as error:
                unwritten.append(result)
                _complain(f"{result.file.path} can't be written: {error.strerror}")
    failed += len(unwritten)
    _summarize([each for each in results if each not in unwritten], write_them=write_them)
    return 2 if failed else 1 if any(each.todos for each in results) else 0


def _progress(what: str, done: int, total: int) -> None:
    if done and done % _EVERY == 0:
        _say(f"{what} {done} of {total} files.")


def _diff(result: Result) -> Iterator[str]:
    old, new = (_lines(each, result.encoding) for each in (result.file.content, result.content))
    name = result.file.path.as_posix()
    for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(content: bytes, encoding: str) -> list[str]:
    text = content.decode(encoding, "replace").replace("\r\n", "\n")
    return [each for each in re.split(r"(?<=\n)", text) if each]  # `splitlines` would also split at form feeds


def _summarize(results: Sequence[Result], *, write_them: bool) -> None:
    changed = [each for each in results if each.content != each.file.content]
    places = sum(each.changes for each in changed)
    verb = "Changed" if write_them else "Would change"
    _say(f"{verb} {_count(places, 'place')} in {_count(len(changed), 'file')}.")
    for each in results:
        if each.todos:
            _say(f"{each.file.path}: {_count(each.todos, 'place')} left to you")
    if changed and not write_them:
        _say("Nothing was written. Add --write to change the files.")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _complain(message: str) -> int:
    _say(f"acp_migrate: {message}")
    return 2


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
