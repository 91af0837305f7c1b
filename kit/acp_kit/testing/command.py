"""The commands `agent` and `replay`: a script or a recording as an agent on stdin and stdout."""

from __future__ import annotations

import asyncio
import runpy
import sys
from argparse import ArgumentParser, Namespace
from contextlib import redirect_stdout
from pathlib import Path

from acp_kit.testing.agent import ScriptedAgent
from acp_kit.testing.replay import Replay
from acp_kit.testing.wire import serve_stdio


def add_agent(parser: ArgumentParser) -> None:
    """Add the arguments of `agent`, and what runs it."""
    parser.add_argument(
        "file", metavar="script", help="a Python file that has `agent = ScriptedAgent(...)`, of acp_kit.testing"
    )
    parser.set_defaults(run=_agent)


def add_replay(parser: ArgumentParser) -> None:
    """Add the arguments of `replay`, and what runs it."""
    parser.add_argument("file", help="a recording, such as one of `acp-bindings tap`")
    parser.set_defaults(run=_replay)


def _agent(options: Namespace) -> int:
    if not Path(options.file).is_file():
        return _complain(f"{options.file} is not a file")
    sys.path.insert(0, str(Path(options.file).parent))
    with redirect_stdout(sys.stderr):  # stdout is for messages
        agent = runpy.run_path(options.file).get("agent")
    if not isinstance(agent, (ScriptedAgent, Replay)):
        return _complain(f"{options.file} has no `agent = ScriptedAgent(...)`")
    return _serve(agent)


def _replay(options: Namespace) -> int:
    try:
        return _serve(Replay(options.file))
    except (OSError, ValueError) as error:
        return _complain(str(error))


def _serve(agent: ScriptedAgent | Replay) -> int:
    asyncio.run(serve_stdio(agent))
    try:
        agent.assert_done()
    except AssertionError as error:
        _complain(str(error))
    return 0


def _complain(problem: str) -> int:
    sys.stderr.write(f"acp-bindings: {problem}\n")
    return 2
