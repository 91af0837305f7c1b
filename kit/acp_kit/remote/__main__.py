"""The command line of `acp_kit.remote`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from acp_kit._extras import require
from acp_kit.remote.arguments import EXIT_CODES
from acp_kit.remote.client.command import add_connect
from acp_kit.remote.server.command import add_serve


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns:
        0 if a signal or the end of stdin ended it, 1 if the agent can't be reached or was lost, 2 if it can't start.
    """
    parser = ArgumentParser("python -m acp_kit.remote", description="Agents at the other end of a network.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    connect, serve = "pass messages between stdin, stdout and a remote agent", "serve an agent over WebSocket and HTTP"
    add_connect(commands.add_parser("connect", help=connect, epilog=EXIT_CODES))
    add_serve(commands.add_parser("serve", help=serve, epilog=EXIT_CODES))
    options = parser.parse_args(arguments)
    try:
        require("python -m acp_kit.remote", "remote", "httpx2", "starlette", "uvicorn", "websockets")
    except ImportError as error:
        sys.stderr.write(f"acp_kit.remote: {error}\n")
        return 2
    code: int = options.run(options)
    return code


if __name__ == "__main__":
    sys.exit(main())
