"""The commands `tap`, `show` and `redact`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import strftime

from acp_kit.common.command_line import CommandParser
from acp_kit.recording.file_format import NotARecordingError, format_recorded, iterate_recording


def add_tap(parser: CommandParser) -> None:
    """Add the arguments of `tap`, and set `run`."""
    parser.description = (
        "Record the messages between an editor and an agent: in the editor's settings, write this command before the "
        "agent's. Everything is passed on unchanged. Only you can read the recording. It has secrets, so share only "
        "the output of `acp-bindings redact` or `acp-bindings show --html`."
    )
    add = parser.add_argument
    add("--to", type=Path, metavar="FILE", help="the file to append to (default: acp-DATE-TIME-PID.jsonl)")
    parser.add_command("the command that starts the agent")
    parser.set_defaults(run=_tap)


def add_show(parser: CommandParser) -> None:
    """Add the arguments of `show`, and set `run`."""
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="a recording of `tap`, or a log of acp_kit.frame_log")
    add("--method", metavar="NAME", help="only this method, such as session/update")
    add("--session", default="", metavar="ID", help="only sessions whose ids begin with this")
    add("--errors", action="store_true", help="only problems and errors; exit code 1 if there are any")
    add("--html", type=Path, metavar="FILE", help="write a page instead, with these filters and without secrets")
    add(
        "--against",
        type=Path,
        metavar="FILE",
        help="show the first difference from another recording, ignoring ids, times, the order of members and the "
        "boundaries of chunks; exit code 1 if there is one",
    )
    parser.set_defaults(run=partial(_read, parser, _show))


def add_redact(parser: CommandParser) -> None:
    """Add the arguments of `redact`, and set `run`."""
    parser.description = (
        "Copy a recording without its secrets: the values of env and headers, tokens, passwords and parameters in "
        "URLs, and texts in _meta. The texts of people and models stay, so read the copy before you share it."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the recording")
    parser.add_argument("--to", type=Path, metavar="FILE", help="the copy (default: stdout)")
    parser.set_defaults(run=partial(_read, parser, _redact))


def _tap(options: Namespace) -> int:
    from acp_kit.tap.passing import tap

    file: Path = options.to or Path(strftime(f"acp-%Y%m%d-%H%M%S-{os.getpid()}.jsonl"))
    if options.to is None:
        sys.stderr.write(f"acp-bindings tap: recording to {file.absolute()}\n")
    return tap(options.command, file)


def _read(parser: CommandParser, run: Callable[[Namespace], int], options: Namespace) -> int:
    """Run a command that reads a recording. It ends with an error if that can't be read."""
    if getattr(options, "against", None) and (options.method or options.session or options.errors or options.html):
        parser.error("--against compares whole recordings: leave out the other options.")
    try:
        return run(options)
    except NotARecordingError as error:
        parser.error(str(error))


def _show(options: Namespace) -> int:
    from acp_kit.recording.streamed_secrets import redact_recording
    from acp_kit.tap.analysis import analyse
    from acp_kit.tap.showing import make_page, show

    if options.against is not None:
        return _compare(options)
    name = options.file.name
    recording = iterate_recording(options.file)
    if options.html is not None:
        options.html.write_text(make_page(name, redact_recording(recording)), "utf-8")
        return 0
    rows = analyse(recording)
    for line in show(name, rows, options.method, options.session, errors_only=options.errors):
        sys.stdout.write(f"{line}\n")
    return int(options.errors and any(row.is_wrong for row in rows))


def _compare(options: Namespace) -> int:
    from acp_kit.tap.comparing import compare

    files = (options.file, options.against)
    names = (str(options.file), str(options.against))
    difference = compare(names, (iterate_recording(files[0]), iterate_recording(files[1])))
    sys.stdout.write("\n".join(difference or ["no difference"]) + "\n")
    return int(bool(difference))


def _redact(options: Namespace) -> int:
    from acp_kit.recording.streamed_secrets import redact_recording

    redacted = b"".join(map(format_recorded, redact_recording(iterate_recording(options.file))))
    if options.to is None:
        sys.stdout.buffer.write(redacted)
    else:
        options.to.write_bytes(redacted)
    return 0
