"""The command of a subprocess: its environment, its program, and why it can't be started."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from errno import EINVAL, ENOENT
from pathlib import Path
from typing import cast

# The variables that programs need to run and to find their user's files. None is likely to hold a secret.
_SAFE_VARIABLES = frozenset(
    {
        "HOME",
        "LANG",
        "LANGUAGE",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
        # Windows
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATHEXT",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
    }
)
# In the arguments of a .cmd or .bat file, cmd.exe interprets these even in quotes. On Windows, `npx` is such a file.
FOR_CMD_EXE = frozenset('"%&|<>^!\r\n')


class InvalidCommand(OSError, ValueError):
    """The command, an argument or a variable can't be passed to a process, for example because it contains NUL."""


def find_program(command: str, args: Iterable[str], env: Mapping[str, str]) -> str:
    """Return the program that a command starts: on Windows, the file in the folders of PATH, with its extension.

    Raises:
        InvalidCommand: if it is a script of cmd.exe, which would interpret one of the arguments.
    """
    if sys.platform == "win32":
        command = shutil.which(command, path=env.get("PATH")) or command
        check_arguments(command, args)
    return command


def check_arguments(program: str, args: Iterable[str]) -> None:
    """Check the arguments of a program, which may be a script of cmd.exe.

    Raises:
        InvalidCommand: if cmd.exe would interpret one of them.
    """
    special = " ".join(sorted(FOR_CMD_EXE.intersection("".join(map(str, args)))))
    # In file names, Windows ignores dots and spaces at the end.
    if special and program.rstrip(" .").lower().endswith((".cmd", ".bat")):
        reason = f"cmd.exe runs {program!r}, and would interpret {special!r} in an argument. Start what it starts"
        raise InvalidCommand(EINVAL, reason)


@contextmanager
def explain_start_errors(
    command: str, cwd: str | Path | None, env: Mapping[str, str], *, role: str = ""
) -> Generator[None]:
    """Let errors in the block name the command and the reason why it can't be started.

    Args:
        command: the program.
        cwd: its working folder; None for this process's.
        env: its environment.
        role: what the command is, such as "the agent"; empty if the messages need not say it.
    """
    try:
        yield
    except OSError as error:
        raise _explain(error, command, cwd, env, role) from None  # it is the same error with more words
    except ValueError as error:
        raise InvalidCommand(EINVAL, f"Can't start {_name(role, command)}: {error}") from error


def _name(role: str, command: str) -> str:
    return f"{role} {command!r}" if role else repr(command)


def _explain(error: OSError, command: str, cwd: str | Path | None, env: Mapping[str, str], role: str) -> OSError:
    """Return the same error with a message that names the command and the reason."""
    command = os.fsdecode(command)
    reason, filename, note = error.strerror or str(error), error.filename, ""
    first = command.partition(" ")[0]
    if cwd is not None and not os.path.isdir(cwd):
        reason, filename = f"its working folder {os.fsdecode(cwd)!r} is not a folder that exists", os.fsdecode(cwd)
    elif not command:
        reason = "the command is empty"
    elif error.errno == ENOENT and _which(command, cwd, env):
        reason = "the interpreter named in its first line doesn't exist"
    elif error.errno == ENOENT and first != command and _which(first, cwd, env):
        reason = f"{reason}. Pass the command {first!r} and each of its arguments separately"
        filename = None  # the message would end with the whole command once more
    elif cwd is not None and os.path.dirname(command) and not os.path.isabs(command):
        reason, filename = f"{reason}. A relative command is looked up in cwd, {os.fsdecode(cwd)!r}", None
    elif error.errno == ENOENT and not os.path.dirname(command):
        note = "It is not in a folder of PATH. Install it, or write its whole path."
    explained = type(error)(error.errno, f"Can't start {_name(role, command)}: {reason}", filename)
    if note:
        explained.add_note(note)
    return explained


def _which(command: str, cwd: str | Path | None, env: Mapping[str, str]) -> str | None:
    """Find an executable file: by its path, which is relative to `cwd`, or in the folders of PATH."""
    path = os.path.join(cwd or "", command) if os.path.dirname(command) else command
    return shutil.which(path, path=env.get("PATH"))


def environment(extra: Mapping[str, str] | None, inherit: bool | Collection[str]) -> dict[str, str]:
    """Return the environment of a subprocess: all or part of this process's, plus additional variables.

    Args:
        extra: additional variables, which override inherited ones.
        inherit: True for all variables, False for the few that every program needs, or the names of those to inherit.

    Raises:
        TypeError: if `inherit` is a single name.
    """
    wanted = cast("object", inherit)
    if isinstance(wanted, str) or not isinstance(wanted, (bool, Collection)):
        raise TypeError(f"inherit_env must be True, False or a list of names, not {wanted!r}.")
    return {**{name: value for name, value in os.environ.items() if _is_inherited(name, inherit)}, **(extra or {})}


def _is_inherited(name: str, inherit: bool | Collection[str]) -> bool:
    if isinstance(inherit, bool):
        return inherit or name in _SAFE_VARIABLES or name.startswith("LC_")
    # On Windows, names in os.environ are always upper case.
    return name in inherit or (sys.platform == "win32" and name in {other.upper() for other in inherit})
