"""Starts a subprocess with pipes, in a process group of its own. If it fails, the error says why and nothing is left.

asyncio's subprocesses are not used: their `wait` also waits for pipes that a grandchild keeps open (CPython #119710),
and their readers limit the length of lines.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from errno import EACCES, EINVAL, ENOENT
from pathlib import Path
from typing import Any

from acp_runtime.transports.process_group import ProcessGroup


class InvalidCommand(OSError, ValueError):
    """The command, an argument or a variable can't be passed to a process, for example because it contains NUL."""


@dataclass(frozen=True)
class Launched:
    """A running subprocess, and this process's ends of its pipes."""

    group: ProcessGroup
    stdin: int
    stdout: int
    stderr: int


def launch(command: str, args: tuple[str, ...], cwd: str | Path | None, env: dict[str, str]) -> Launched:
    """Start a subprocess.

    Raises:
        OSError: if it can't be started; the message names the command and the reason.
        TypeError: if the command, an argument or `cwd` is neither text nor a path.
    """
    _check_types(command, args, cwd)
    with ExitStack() as ours, ExitStack() as theirs:
        try:
            child_in, stdin = os.pipe()
            theirs.callback(os.close, child_in)
            ours.callback(os.close, stdin)
            stdout, child_out = os.pipe()
            theirs.callback(os.close, child_out)
            ours.callback(os.close, stdout)
            stderr, child_err = os.pipe()
            theirs.callback(os.close, child_err)
            ours.callback(os.close, stderr)
        except OSError as error:
            raise _start_error(error, "the agent ", command, cwd, env) from error
        group = start("the agent ", command, args, cwd, env, (child_in, child_out, child_err))
        ours.pop_all()
    return Launched(group, stdin, stdout, stderr)


def start(
    what: str,
    command: str,
    args: tuple[str, ...],
    cwd: str | Path | None,
    env: dict[str, str],
    streams: tuple[int, int, int],
) -> ProcessGroup:
    """Start a subprocess in a process group of its own, with descriptors as its stdin, stdout and stderr.

    Args:
        what: what the command is, for messages; with a space at the end.
        command: the program.
        args: its arguments.
        cwd: its working folder; None for this process's.
        env: its environment.
        streams: the descriptors, or the constants of `subprocess`.

    Raises:
        OSError: if it can't be started; the message names the command and the reason.
    """
    try:
        return ProcessGroup(_popen(command, args, cwd, env, streams))
    except OSError as error:
        raise _start_error(error, what, command, cwd, env) from error
    except ValueError as error:
        raise InvalidCommand(EINVAL, f"Can't start {what}{command!r}: {error}") from error


def _popen(
    command: str, args: tuple[str, ...], cwd: str | Path | None, env: dict[str, str], streams: tuple[int, int, int]
) -> subprocess.Popen[bytes]:
    program = command if sys.platform != "win32" else shutil.which(command, path=env.get("PATH")) or command
    return subprocess.Popen(
        [program, *args],
        stdin=streams[0],
        stdout=streams[1],
        stderr=streams[2],
        cwd=cwd,
        env=env,
        start_new_session=True,
        creationflags=0x200 if sys.platform == "win32" else 0,  # CREATE_NEW_PROCESS_GROUP
    )


def _check_types(command: Any, args: tuple[object, ...], cwd: object) -> None:
    """Refuse arguments of the wrong type by name; the error of `subprocess` wouldn't say which one it is."""
    kind = type(command).__name__
    if isinstance(command, (list, tuple)):
        raise TypeError(f"The command must be text, not a {kind}. Pass it and each of its arguments separately.")
    named = [("The command", command), ("cwd", "" if cwd is None else cwd)]
    named += [(f"Argument {number} of the command", value) for number, value in enumerate(args, 1)]
    for name, value in named:
        if not isinstance(value, (str, bytes, os.PathLike)):
            raise TypeError(f"{name} must be text or a path, not of type {type(value).__name__}.")


def _start_error(error: OSError, what: str, command: str, cwd: str | Path | None, env: dict[str, str]) -> OSError:
    """Return the same error with a message that names the command and the reason."""
    command = os.fsdecode(command)
    reason, filename = error.strerror or str(error), error.filename
    if cwd is not None and (problem := _problem_with_folder(os.fsdecode(cwd))):
        reason, filename = f"its working folder {os.fsdecode(cwd)!r} {problem}", os.fsdecode(cwd)
    elif not command:
        reason = "the command is empty"
    elif file := _find_file(command, cwd, env):
        reason = _problem_with_file(file, error) or reason
    elif (first := command.split()[:1]) != [command] and first and _find_file(first[0], cwd, env):
        reason = f"{reason}. Pass the command {first[0]!r} and each of its arguments separately"
        filename = None  # the message would end with the whole command once more
    return type(error)(error.errno, f"Can't start {what}{command!r}: {reason}", filename)


def _problem_with_folder(cwd: str) -> str:
    if not cwd:
        return "is an empty path"
    with suppress(OSError, ValueError):
        folder = Path(cwd)
        if not folder.exists():
            return "doesn't exist"
        if not folder.is_dir():
            return "is not a folder"
        if not os.access(folder, os.X_OK):
            return "can't be entered"
    return ""


def _find_file(command: str, cwd: str | Path | None, env: dict[str, str]) -> Path | None:
    """Find the file of a command: by its path, or in the folders of PATH."""
    with suppress(OSError, ValueError):
        for folder in [cwd or "."] if os.path.dirname(command) else os.get_exec_path(env):
            if (path := Path(folder, command)).exists():
                return path
    return None


def _problem_with_file(path: Path, error: OSError) -> str:
    if path.is_dir():
        return "it is a folder"
    if error.errno == ENOENT:
        return "the interpreter named in its first line doesn't exist"
    if error.errno == EACCES and not os.access(path, os.X_OK):
        return "it is not executable"
    return ""
