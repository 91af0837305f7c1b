"""The command `acp-bindings`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any

from acp_kit.common.command_line import CommandParser, did_you_mean, explain

# The module of each command, which is imported when the command is chosen, and what the command does. The module has a
# function such as `add_serve`, which adds the arguments and sets `run`: a function that returns the exit code.
_COMMANDS = {
    "ask": ("acp_kit.asking.command", "ask an agent, and print its reply"),
    "tap": ("acp_kit.tap.command", "record the messages between an editor and an agent"),
    "show": ("acp_kit.tap.command", "show the sessions, turns and calls of a recording, and their problems"),
    "redact": ("acp_kit.tap.command", "copy a recording without its secrets"),
    "agent": ("acp_kit.testing.command", "play a script as an agent, in any editor"),
    "replay": ("acp_kit.testing.command", "play the agent of a recording"),
    "replay-client": ("acp_kit.testing.command", "play the client of a recording to an agent"),
    "check-client": ("acp_kit.checking.command", "check whether a client follows the protocol"),
    "check-agent": ("acp_kit.checking.command", "check whether an agent follows the protocol"),
    "bridge": ("acp_kit.versions.bridge", "serve an agent of version 1 to clients of version 2"),
    "serve": ("acp_kit.remote.server.command", "serve an agent over WebSocket and HTTP"),
    "connect": ("acp_kit.remote.client.command", "pass messages between stdin, stdout and a remote agent"),
}

_EXAMPLES = """\
examples:
  acp-bindings ask "What is in this folder?" -- gemini --acp
                                       prints the agent's reply
  acp-bindings tap -- gemini --acp     an editor starts this instead of `gemini --acp`
  acp-bindings show acp.jsonl          shows the recorded messages
  acp-bindings agent script.py         an editor starts this instead of an agent; script.py has
                                       agent = ScriptedAgent("Hello", ...)
  acp-bindings replay acp.jsonl        the same, with the messages of a recorded agent
  acp-bindings replay-client acp.jsonl -- my-agent
                                       plays a recorded editor to an agent
  acp-bindings check-client -- my-client {agent} {prompt}
                                       lists protocol violations of a client
  acp-bindings check-agent -- my-agent lists those of an agent
  acp-bindings bridge -- gemini --acp  a client of version 2 starts this instead of `gemini --acp`
  acp-bindings serve my_agent:Agent    serves an agent to other machines
  acp-bindings connect wss://host/acp  an editor starts this to reach it

See also: acp-bindings COMMAND --help
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    name = arguments[0] if arguments else ""
    _open_closed_streams()
    reconfigure: Any = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:  # texts of a peer may have characters that the encoding of stdout lacks
        reconfigure(errors="backslashreplace")
    try:
        parser, _ = parsers([name])
        if not arguments:
            parser.print_help(sys.stderr)
            return 2
        if name not in _COMMANDS and not name.startswith("-"):
            listed = ", ".join(_COMMANDS)
            parser.error(f"there is no command {name!r}.{did_you_mean(name, _COMMANDS)} COMMAND is one of {listed}.")
        options = parser.parse_args(arguments)
        code: int = options.run(options)
    except BrokenPipeError:  # the reader of stdout, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        sys.stderr.write(f"acp-bindings {name}: {explain(error)}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return code


def _open_closed_streams() -> None:
    """Open those of stdin, stdout and stderr that were closed when this process started: Python has None for them."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def parsers(names: Collection[str] = _COMMANDS) -> tuple[CommandParser, dict[str, CommandParser]]:
    """Return the parser of `acp-bindings` and those of its commands. Only the named commands get their arguments."""
    parser = CommandParser(
        prog="acp-bindings",
        usage="acp-bindings [options] COMMAND ...",
        description="Tools for agents and clients that speak the Agent Client Protocol.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version of this package")
    parser.add_argument(
        "--completion", choices=("bash", "tcsh", "zsh"), help="print what completes words in this shell"
    )
    parser.set_defaults(run=_print_information)  # a command sets its own
    adding = parser.add_subparsers(title="commands", metavar="COMMAND", prog="acp-bindings")
    commands: dict[str, CommandParser] = {}
    for name, (module, text) in _COMMANDS.items():
        commands[name] = adding.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        if name in names:
            getattr(import_module(module), f"add_{name.replace('-', '_')}")(commands[name])
    return parser, commands


def _print_information(options: Namespace) -> int:
    if options.completion:
        return _print_completion(options.completion)
    from acp_runtime import __version__  # imported on use, because it takes long

    sys.stdout.write(f"acp-bindings {__version__}\n")
    return 0


def _print_completion(shell: str) -> int:
    from acp_kit.common.extras import require  # imported on use, as what it needs

    try:
        require("--completion", "completion", "shtab")
    except ImportError as error:
        sys.stderr.write(f"acp-bindings: {error}\n")
        return 2
    parser, _ = parsers()
    sys.stdout.write(f"{import_module('shtab').complete(parser, shell)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
