"""The command `acp-bindings`."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module

# The module of each command, which is imported when the command is chosen, and what the command does. The module has a
# function such as `add_serve`, which adds the arguments and sets `run`: a function that returns the exit code.
_COMMANDS = {
    "tap": ("acp_kit.tap.command", "record the messages between an editor and an agent"),
    "show": ("acp_kit.tap.command", "show the sessions, turns and calls of a recording, and their problems"),
    "redact": ("acp_kit.tap.command", "copy a recording without its secrets"),
    "agent": ("acp_kit.testing.processes", "play a script as an agent, in any editor"),
    "replay": ("acp_kit.testing.processes", "play the agent of a recording"),
    "check-client": ("acp_kit.checking.command", "check whether a client follows the protocol"),
    "bridge": ("acp_kit.versions.bridge", "serve an agent of version 1 to clients of version 2"),
    "serve": ("acp_kit.remote.server.command", "serve an agent over WebSocket and HTTP"),
    "connect": ("acp_kit.remote.client.command", "pass messages between stdin, stdout and a remote agent"),
}

_EXAMPLES = """\
examples:
  acp-bindings tap -- gemini --acp     an editor starts this instead of `gemini --acp`
  acp-bindings show acp.jsonl          shows the recorded messages
  acp-bindings agent script.py         an editor starts this instead of an agent; script.py has
                                       agent = ScriptedAgent("Hello", ...)
  acp-bindings replay session.jsonl    the same, with the messages of a recorded agent
  acp-bindings check-client -- my-client {agent} {prompt}
                                       lists protocol violations of a client
  acp-bindings bridge -- gemini --acp  a client of version 2 starts this instead of `gemini --acp`
  acp-bindings serve my_agent:Agent    serves an agent to other machines
  acp-bindings connect wss://host/acp  an editor starts this to reach it

See also: acp-bindings COMMAND --help
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    name: str = _parser().parse_args(arguments[:1]).command
    module, text = _COMMANDS[name]
    command = ArgumentParser(f"acp-bindings {name}", description=f"{text[0].upper()}{text[1:]}.")
    getattr(import_module(module), f"add_{name.replace('-', '_')}")(command)
    options = command.parse_args(arguments[1:])
    try:
        code: int = options.run(options)
    except BrokenPipeError:  # the reader of stdout, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        sys.stderr.write(f"acp-bindings: {error}\n")
        return 2
    return code


def _parser() -> ArgumentParser:
    """Return the parser for the name of the command."""
    width = max(map(len, _COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {text}" for name, (_, text) in _COMMANDS.items())
    parser = ArgumentParser(
        "acp-bindings",
        usage="acp-bindings COMMAND ...",
        description=f"Tools for agents and clients that speak the Agent Client Protocol.\n\ncommands:\n{commands}",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=_COMMANDS, metavar="COMMAND", help="one of these commands")
    return parser


if __name__ == "__main__":
    sys.exit(main())
