"""The commands `agent`, `replay` and `replay-client`."""

from __future__ import annotations

import asyncio
import os
import runpy
import socket
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path

from acp_kit.common.command_line import CommandParser, explain_start
from acp_kit.testing import relay
from acp_kit.testing.agent import ScriptedAgent
from acp_kit.testing.processes import serve_relay
from acp_kit.testing.replay import Replay
from acp_kit.testing.replaying import replay_client
from acp_runtime import Options
from acp_runtime.transports import shutdown_signals


def add_agent(parser: CommandParser) -> None:
    """Add the arguments of `agent`, and set `run`."""
    parser.add_argument("file", metavar="SCRIPT", help="a Python file with `agent = ScriptedAgent(...)`")
    parser.set_defaults(run=partial(_run, _load))


def add_replay(parser: CommandParser) -> None:
    """Add the arguments of `replay`, and set `run`."""
    parser.add_argument("file", metavar="FILE", help="a recording, such as one of `acp-bindings tap`")
    parser.set_defaults(run=partial(_run, Replay))


def add_replay_client(parser: CommandParser) -> None:
    """Add the arguments of `replay-client`, and set `run`."""
    add = parser.add_argument
    add("--cwd", metavar="FOLDER", help="the working directory to use instead of the recorded one")
    add("--deadline", type=float, default=60.0, metavar="SECONDS", help="the limit for the whole replay (default: 60)")
    add("file", metavar="FILE", help="a recording, such as one of `acp-bindings tap`")
    parser.add_command("the agent", before="FILE ")
    parser.epilog = (
        "Exit code: 0 if the agent behaves like the recorded one, 1 if it doesn't, 2 if the replay can't start."
    )
    parser.set_defaults(run=_replay_client)


def _replay_client(options: Namespace) -> int:
    try:
        asyncio.run(replay_client(options.file, options.command, cwd=options.cwd, deadline=options.deadline))
    except OSError as error:
        if error.filename != options.command[0]:
            raise
        text, code = explain_start(error, options.command), 2
    except ValueError as error:
        text, code = str(error), 2
    except (AssertionError, TimeoutError) as error:
        text, code = str(error), 1
    else:
        text, code = "The agent has done what the recorded one did.", 0
    sys.stderr.write(f"acp-bindings replay-client: {text}\n")
    return code


def _load(file: str) -> ScriptedAgent | Replay:
    sys.path.insert(0, str(Path(file).parent))
    try:
        agent = runpy.run_path(file).get("agent")
    except ValueError as error:  # other errors of a script are shown with their traceback, so this one, too
        raise RuntimeError(f"{file} has raised {error!r}") from error
    if not isinstance(agent, (ScriptedAgent, Replay)):
        raise ValueError(f"{file} has no `agent = ScriptedAgent(...)`")
    return agent


def _run(load: Callable[[str], ScriptedAgent | Replay], options: Namespace) -> int:
    with redirect_stdout(sys.stderr):  # stdout is for messages
        try:
            agent = load(options.file)
        except ValueError as error:
            sys.stderr.write(f"acp-bindings: {error}\n")
            return 2
        code = asyncio.run(_serve_stdio(agent))
    sys.stderr.write(f"acp-bindings: at the end, {agent.where}\n")
    return code


async def _serve_stdio(agent: ScriptedAgent | Replay) -> int:
    """Serve an agent until the client closes stdin, or SIGINT or SIGTERM arrives. Return the exit code.

    The agent is at the other end of a relay, as in `run_client`, so that a step can end it with an exit code.
    """
    ours, theirs = socket.socketpair()
    code = 0
    with (
        suppress(BrokenPipeError),  # the client no longer reads, and stdout still holds bytes for it
        open(os.dup(1), "wb") as stdout,
        shutdown_signals(lambda _: theirs.shutdown(socket.SHUT_WR)),
    ):
        os.dup2(2, 1)  # so that output of child processes doesn't get between the messages
        relaying = asyncio.create_task(asyncio.to_thread(relay.pass_on, theirs, stdout))
        await serve_relay(agent, Options(), *await asyncio.open_connection(sock=ours))
        code = await relaying
    return code
