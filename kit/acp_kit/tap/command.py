"""The commands `tap`, `show` and `redact`."""

from __future__ import annotations

import os
import sys
from argparse import REMAINDER, ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from time import strftime


def add_tap(parser: ArgumentParser) -> None:
    """Add the arguments of `tap`, and what runs it."""
    parser.usage = f"{parser.prog} [--to FILE] -- CMD ..."
    parser.description = (
        "Stand between an editor and an agent: in the editor's settings, write this command in front of the agent's. "
        "Everything is passed on unchanged, and recorded. Only you can read the recording, and it has secrets: "
        "share it as `acp-bindings redact` or `acp-bindings show --html` writes it."
    )
    parser.add_argument(
        "--to", type=Path, metavar="FILE", help="the recording, which is appended to (default: acp-DATE-TIME-PID.jsonl)"
    )
    parser.add_argument("agent", nargs=REMAINDER, metavar="CMD ...", help="the command that starts the agent")
    parser.set_defaults(run=_tap, error=parser.error)


def add_show(parser: ArgumentParser) -> None:
    """Add the arguments of `show`, and what runs it."""
    parser.description = (
        "Show a recording: sessions, turns, calls with their answers and how long they took, updates merged, and what "
        "is wrong with them."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a recording of `tap`, or a log of acp_kit.frame_log")
    parser.add_argument("--method", metavar="NAME", help="only this method, such as session/update")
    parser.add_argument("--session", metavar="ID", help="only the session whose id begins so")
    parser.add_argument(
        "--errors", action="store_true", help="only what is wrong, and calls that failed; exit code 1 if there is any"
    )
    parser.add_argument(
        "--html",
        type=Path,
        metavar="PAGE",
        help="write a page for a browser instead, which has the filters and no secrets",
    )
    parser.set_defaults(run=_complaining(_show))


def add_redact(parser: ArgumentParser) -> None:
    """Add the arguments of `redact`, and what runs it."""
    parser.description = (
        "Copy a recording without its secrets: the values of env and headers, tokens, passwords and parameters in "
        "URLs, and texts in _meta. What people and models have written stays, so read it before you share it."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the recording")
    parser.add_argument("--to", type=Path, metavar="COPY", help="where to (default: stdout)")
    parser.set_defaults(run=_complaining(_redact))


def _tap(options: Namespace) -> int:
    from acp_kit.tap.passing import tap

    command = options.agent[1:] if options.agent[:1] == ["--"] else options.agent
    if not command:
        options.error("write the command that starts the agent, after --")
    file: Path = options.to or Path(strftime(f"acp-%Y%m%d-%H%M%S-{os.getpid()}.jsonl"))
    if options.to is None:
        sys.stderr.write(f"acp-bindings tap: recording to {file.absolute()}\n")
    return _complaining(lambda _: tap(command, file))(options)


def _show(options: Namespace) -> int:
    from acp_kit.recording import read_recording
    from acp_kit.tap.analysis import analyse
    from acp_kit.tap.page import page
    from acp_kit.tap.redacting import redact_recorded
    from acp_kit.tap.text import show

    file: Path = options.file
    recording = read_recording(file)
    if options.html is not None:
        options.html.write_text(page(analyse(file.name, map(redact_recorded, recording))), "utf-8")
        return 0
    analysis = analyse(file.name, recording)
    for line in show(analysis, options.method, options.session, errors_only=options.errors):
        sys.stdout.write(f"{line}\n")
    return int(options.errors and analysis.is_wrong)


def _redact(options: Namespace) -> int:
    from acp_kit.recording import format_recorded, read_recording
    from acp_kit.tap.redacting import redact_recorded

    redacted = b"".join(format_recorded(redact_recorded(recorded)) for recorded in read_recording(options.file))
    if options.to is None:
        sys.stdout.buffer.write(redacted)
    else:
        options.to.write_bytes(redacted)
    return 0


def _complaining(run: Callable[[Namespace], int]) -> Callable[[Namespace], int]:
    """Return the function with its errors on stderr, and the exit code 2 for them."""

    def run_or_complain(options: Namespace) -> int:
        try:
            return run(options)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read stdout, such as `head`, has enough
            return 0
        except (OSError, ValueError) as error:
            sys.stderr.write(f"acp-bindings: {error}\n")
            return 2

    return run_or_complain
