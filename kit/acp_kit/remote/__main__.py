"""The commands `serve` and `connect`, which are those of `acp-bindings`: `python -m acp_kit.remote`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from acp_kit.remote.client.command import add_connect
from acp_kit.remote.server.command import add_serve


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns:
        0 if a signal or the end of stdin ended it, 1 if the agent can't be reached or the connection was lost, 2 if it
        can't start.
    """
    parser = ArgumentParser("python -m acp_kit.remote", description="Remote agents.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_connect(commands.add_parser("connect", help="pass messages between stdin, stdout and a remote agent"))
    add_serve(commands.add_parser("serve", help="serve an agent over WebSocket and HTTP"))
    options = parser.parse_args(arguments)
    code: int = options.run(options)
    return code


if __name__ == "__main__":
    sys.exit(main())
