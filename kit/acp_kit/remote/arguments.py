"""Arguments that `serve` and `connect` share, and checks of arguments."""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable

from acp_kit.common.command_line import CommandParser
from acp_kit.common.extras import require
from acp_kit.remote.headers import is_header_value

TOKEN_HELP = "the environment variable with the token that clients send, as Authorization: Bearer TOKEN"
_EXIT_CODES = (
    "exit codes: 0: it was stopped, or the editor closed stdin; 1: the agent can't be reached, or the connection was "
    "lost; 2: an argument is wrong, or a package is missing"
)


def set_run(parser: CommandParser, run: Callable[[Namespace], int]) -> None:
    """Let a function run the command, if the packages of the extra are installed."""

    def check_and_run(options: Namespace) -> int:
        try:
            require(parser.prog, "remote", "httpx2", "uvicorn", "websockets")
        except ImportError as error:
            sys.stderr.write(f"acp-bindings: {error}\n")
            return 2
        return run(options)

    parser.epilog = _EXIT_CODES
    parser.set_defaults(run=check_and_run, error=parser.error)


def matching(pattern: str, expected: str) -> Callable[[str], str]:
    """Return the `type` of an argument that must match a pattern. `expected` describes it, for the message."""

    def check(argument: str) -> str:
        if not re.fullmatch(pattern, argument):
            raise ArgumentTypeError(f"write {expected}")
        return argument

    return check


def read_secret(variable: str) -> str:
    """Return a header value from an environment variable, because other users can see arguments of processes.

    Raises:
        ArgumentTypeError: if the variable is missing or empty, or a header can't carry its value.
    """
    value = os.environ.get(variable, "").strip()
    if not value:
        raise ArgumentTypeError(f"the environment variable {variable} is not set, or it is empty")
    if not is_header_value(value):
        raise ArgumentTypeError(f"the environment variable {variable} has characters that a header can't carry")
    return value
