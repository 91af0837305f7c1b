"""The parser of the commands, and how their errors are reported. It imports neither the runtime nor asyncio."""

from __future__ import annotations

import os
import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Collection, Sequence
from errno import EACCES, EADDRINUSE, EDQUOT, EEXIST, EISDIR, ENOENT, ENOSPC, ENOTDIR, EPERM, EROFS
from pathlib import Path
from typing import Any

_CHECK_PERMISSIONS = "Check its owner and its permissions"
_FREE_SPACE = "Free some space, or write to another disk"
_ADVICE = {
    EACCES: _CHECK_PERMISSIONS,
    EADDRINUSE: "Stop the program that uses it, or choose another one",
    EDQUOT: _FREE_SPACE,
    EEXIST: "Choose another name",
    EISDIR: "Write the path of a file",
    ENOSPC: _FREE_SPACE,
    ENOTDIR: "Check the path",
    EPERM: _CHECK_PERMISSIONS,
    EROFS: "Choose another folder",
}


class CommandParser(ArgumentParser):
    """The parser of one command. Options can't be abbreviated.

    Attributes:
        arguments: what `add_argument` has added, in this order.
    """

    def __init__(self, prog: str, **keywords: Any) -> None:
        self.arguments: list[Action] = []
        self._command: Action | None = None
        super().__init__(prog=prog, allow_abbrev=False, **keywords)

    def add_argument(self, *args: Any, **keywords: Any) -> Action:
        """Add an argument, as `ArgumentParser` does."""
        argument = super().add_argument(*args, **keywords)
        self.arguments.append(argument)
        return argument

    def add_command(self, help: str, before: str = "", words: str = "CMD ...") -> None:
        """Let the words after `--` be `options.command`, a list.

        Args:
            help: what the command is.
            before: the other positional arguments, for the usage.
            words: the words of the command, for the usage.
        """
        self._command = self.add_argument("command", nargs="+", metavar="CMD", help=help)
        self.usage: str | None = f"{self.prog} [options] {before}-- {words}"

    def parse_known_args(self, args: Any = None, namespace: Any = None, **keywords: Any) -> tuple[Any, list[str]]:
        """Parse arguments. An unknown one is an error, which names the option that was probably meant."""
        arguments = list[str](sys.argv[1:] if args is None else args)
        # Taken off first, because argparse drops each `--` and gives the first words to missing arguments.
        command: list[str] = []
        if self._command is not None:
            if "--" in arguments:
                place = arguments.index("--")
                arguments, command = arguments[:place], arguments[place + 1 :]
            self._command.nargs, self._command.required = ("*", False) if command else ("+", True)
        options: Namespace
        options, unknown = super().parse_known_args(arguments, namespace, **keywords)
        if command:
            unknown = [*options.command, *unknown]
            options.command = command
        if unknown:
            word = unknown[0].partition("=")[0]
            known = [option for argument in self.arguments for option in argument.option_strings]
            what = "there is no option" if word.startswith("-") else "unexpected argument"
            advice = " The words of the command come after --." if self._command is not None else ""
            self.error(f"{what} {word!r}.{did_you_mean(word, known)}{advice}")
        return options, unknown


def did_you_mean(word: str, choices: Collection[str]) -> str:
    """Return a question with the most similar choice, after a space; nothing if none is similar."""
    from difflib import get_close_matches  # imported on use: only mistakes need it

    names = {choice.lstrip("-"): choice for choice in choices}  # dashes would make any two options similar
    similar = get_close_matches(word.lstrip("-"), names, n=1)
    return f" Did you mean {names[similar[0]]!r}?" if similar else ""


def explain(error: OSError) -> str:
    """Explain an error in sentences: what failed, where, and what to do."""
    reason = (error.strerror or str(error)).rstrip(".")
    path = error.filename
    if not isinstance(path, (str, Path)):
        return f"{reason}.{_sentence(_ADVICE.get(error.errno or 0))}"
    if reason.startswith("Can't start"):  # the runtime's error, which names the program
        return f"{reason}.{_sentence(_advice_about_program(error, str(path)))}"
    return f"{str(path)!r}: {reason}.{_sentence(_advice_about_file(error, Path(path)))}"


def explain_start(error: OSError, command: Sequence[str]) -> str:
    """Explain in sentences why a program can't be started, and what to do."""
    reason = error.strerror or str(error)
    return f"Can't start {command[0]!r}: {reason}.{_sentence(_advice_about_program(error, command[0]))}"


def _sentence(advice: str | None) -> str:
    return f" {advice}." if advice else ""


def _advice_about_program(error: OSError, program: str) -> str | None:
    reason = error.strerror or ""
    # Otherwise the reason is more exact, such as that its interpreter is missing.
    if reason.endswith(os.strerror(ENOENT)):
        in_path = "Install it, or write its whole path: it is not in a folder of PATH"
        return "Check the path" if os.path.dirname(program) else in_path
    return "Check that the file may be executed" if error.errno == EACCES else None


def _advice_about_file(error: OSError, path: Path) -> str | None:
    if error.errno != ENOENT:
        return _ADVICE.get(error.errno or 0)
    if not path.parent.is_dir():
        return f"Create the folder {str(path.parent)!r}, or check the path"
    return "Check the path" if path.is_absolute() else f"Check the path, which begins in {str(Path.cwd())!r}"
