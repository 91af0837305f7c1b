"""The command `connect`: a bridge between stdin, stdout and a remote agent."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable

from acp_kit.common.command_line import CommandParser
from acp_kit.remote.arguments import TOKEN_HELP, matching, read_secret, set_run


def add_connect(parser: CommandParser) -> None:
    """Add the arguments of the command, and set `run`."""
    url = matching(
        r"(?i:wss?|https?)://[^/?#].*", "a URL such as wss://example.org/acp, with ws:, wss:, http: or https:"
    )
    parser.add_argument("url", type=url, metavar="URL", help="the agent's address: ws:, wss:, http: or https:")
    parser.add_argument(
        "--header",
        dest="headers",
        type=_pair(":", "'Name: value'", str),
        action="append",
        default=[],
        metavar="NAME:VALUE",
        help="a header to send with each HTTP request; other users of this machine may see it in the list of processes",
    )
    parser.add_argument(
        "--header-from-env",
        dest="headers",
        type=_pair("=", "Name=VARIABLE", read_secret),
        action="append",
        metavar="NAME=VARIABLE",
        help="a header whose value is in an environment variable",
    )
    parser.add_argument("--token-env", type=read_secret, metavar="VARIABLE", help=TOKEN_HELP)
    set_run(parser, _connect)


def _connect(options: Namespace) -> int:
    from acp_kit.remote.client.bridge import bridge

    headers = dict(options.headers)
    if options.token_env:
        headers["Authorization"] = f"Bearer {options.token_env}"
    reason = asyncio.run(bridge(options.url, headers))
    if reason is None:
        return 0
    sys.stderr.write(f"acp-bindings: {reason}\n")
    return 1


def _pair(separator: str, expected: str, read: Callable[[str], str]) -> Callable[[str], tuple[str, str]]:
    """Return the `type` of an argument with a header's name and the text that `read` gets its value from."""

    def split(argument: str) -> tuple[str, str]:
        name, separated, value = argument.partition(separator)
        if not separated or not name:
            raise ArgumentTypeError(f"write {expected}")
        return name.strip(), read(value).strip()

    return split
