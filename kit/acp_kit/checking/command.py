"""For each scenario, the client is started with an agent that plays it: usual and rare behaviour of real agents.

In the client's command, {agent} is replaced by the path of this agent, and {prompt} by a text. The client must send one
prompt, and exit with 0 after the response.

examples:
  acp-bindings check-client --prompt-args 'exec {prompt}' -- acpx --approve-all --agent {agent}
  acp-bindings check-client -- python my_client.py {agent} {prompt}
  acp-bindings check-client --stdin '{prompt}' --answer 1 -- my-client {agent}    a client that reads from stdin
  acp-bindings check-client --by-hand --deadline 60 -- toad acp {agent} .         an editor, in which you type a prompt
  acp-bindings check-client --only cancel --only noise -- my-client {agent}       some scenarios

Exit code: 0 if no MUST failed, 1 if one failed, 2 if the client can't be started. A MUST is required by the
specification. A SHOULD is recommended by it, or where it is silent, needed for existing agents.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from functools import partial

from acp_kit.checking.client import Command
from acp_kit.checking.report import format_json, format_junit, format_summary, format_text, violates_must
from acp_kit.checking.running import Result, run
from acp_kit.checking.scenarios import SCENARIOS
from acp_kit.common.command_line import CommandParser, explain_start

_NO_PROMPT = """\
the client has sent no prompt, so the other scenarios are skipped. Make it send one with {prompt}, --prompt-args,
--stdin or --by-hand: see acp-bindings check-client --help"""
_REPORTS = {"text": format_summary, "junit": format_junit}


def add_check_client(parser: CommandParser) -> None:
    """Add the arguments of `check-client`, and set `run`."""
    width = max(map(len, SCENARIOS))
    listed = "".join(f"  {id:{width}}  {scenario.level:6}  {scenario.rule}\n" for id, scenario in SCENARIOS.items())
    parser.epilog = f"{__doc__}\nscenarios:\n{listed}"
    parser.formatter_class = RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--prompt-args", default="", metavar="ARGS", help="arguments to add to CMD, which make it send {prompt}")
    add("--stdin", metavar="TEXT", help="type this line into the client's stdin, such as '{prompt}'")
    add("--answer", metavar="TEXT", help="type this line whenever the agent asks for permission")
    add("--by-hand", action="store_true", help="you type a prompt in each scenario, and cancel when the agent says so")
    add("--only", action="append", choices=SCENARIOS, metavar="ID", help="run this scenario; can be repeated")
    add("--format", choices=["text", "json", "junit"], default="text", help="the format of the report (default: text)")
    add(
        "--deadline",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="the limit for each step of a scenario (default: 10)",
    )
    add(
        "--quiet",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="how long to wait to see that the client sends nothing (default: 1)",
    )
    parser.add_command("the client, with {agent} for its agent", words="CMD {agent} ...")
    parser.set_defaults(run=partial(_check, parser))


def _check(parser: CommandParser, options: Namespace) -> int:
    words = [*options.command, *shlex.split(options.prompt_args)]
    if not any("{agent}" in word for word in words):
        parser.error("the command has no {agent}, which is replaced by the path of the agent")
    command = Command(
        words,
        stdin=options.stdin,
        answer=options.answer,
        deadline=options.deadline,
        quiet=options.quiet,
        by_hand=options.by_hand,
    )
    try:
        results = asyncio.run(_run(command, options.only or [*SCENARIOS], prints=options.format == "text"))
    except OSError as error:
        if error.filename != words[0]:
            raise
        sys.stderr.write(f"acp-bindings check-client: {explain_start(error, words)}\n")
        return 2
    report = format_json(words, results) if options.format == "json" else _REPORTS[options.format](results)
    sys.stdout.write(f"{report}\n")
    return int(any(map(violates_must, results)))


async def _run(command: Command, ids: list[str], *, prints: bool) -> list[Result]:
    results: list[Result] = []
    for id in ids:
        results.append(await run(SCENARIOS[id], command))
        if prints:
            sys.stdout.write(f"{format_text(results[-1])}\n")
            sys.stdout.flush()
        if id == "messages" and not any(b'"session/prompt"' in entry.data for entry in results[-1].entries):
            sys.stderr.write(f"acp-bindings: {_NO_PROMPT}\n")
            break
    return results
