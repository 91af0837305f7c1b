"""For each scenario, the client is started with an agent that does what real agents do, and what they rarely do.

In its command, {agent} becomes the path of that agent, and {prompt} a text. The client has to send one prompt, and to
exit with 0 after the answer.

examples:
  acp-bindings check-client --prompt-args 'exec {prompt}' -- acpx --approve-all --agent {agent}
  acp-bindings check-client -- python my_client.py {agent} {prompt}
  acp-bindings check-client --stdin '{prompt}' --answer 1 -- my-client {agent}    a client that reads from stdin
  acp-bindings check-client --by-hand --deadline 60 -- toad acp {agent} .         an editor, in which you type a prompt
  acp-bindings check-client --only cancel --only files -- my-client {agent}       some scenarios

The exit code is 0 if nothing failed that a client must do, 1 if something did, and 2 if the client can't be started.
MUST is what the specification demands, SHOULD what it recommends, and where it is silent, what agents do in practice.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from argparse import REMAINDER, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from functools import partial

from acp_kit.checking.client import Command
from acp_kit.checking.report import is_met, json_of, junit_of, summary_of, text_of
from acp_kit.checking.running import Result, run
from acp_kit.checking.scenarios import SCENARIOS

_NO_PROMPT = """\
the client has sent no prompt, so the other scenarios are left out. It is made to send one with {prompt}, --prompt-args,
--stdin or --by-hand: see acp-bindings check-client --help"""


def add_check_client(parser: ArgumentParser) -> None:
    """Add the arguments of `check-client`, and what runs it."""
    width = max(map(len, SCENARIOS))
    listed = "\n".join(
        f"  {scenario.id:{width}}  {scenario.level:6}  {scenario.rule}" for scenario in SCENARIOS.values()
    )
    parser.usage = "acp-bindings check-client [options] -- COMMAND {agent} ..."
    parser.epilog = f"{__doc__}\nscenarios:\n{listed}\n"
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.add_argument(
        "--prompt-args", default="", metavar="ARGS", help="arguments behind COMMAND that make the client send {prompt}"
    )
    parser.add_argument("--stdin", metavar="TEXT", help="type this line into the client's stdin, such as '{prompt}'")
    parser.add_argument("--answer", metavar="TEXT", help="type this line whenever the agent asks for permission")
    parser.add_argument(
        "--by-hand",
        action="store_true",
        help="you type a prompt in each scenario, and cancel when the agent says so; then the client is ended",
    )
    parser.add_argument(
        "--only", action="append", choices=SCENARIOS, metavar="ID", help="run this scenario; can be repeated"
    )
    parser.add_argument("--format", choices=["text", "json", "junit"], default="text", help="of the report (text)")
    parser.add_argument(
        "--deadline", type=float, default=10.0, metavar="SECONDS", help="for each step of a scenario (10)"
    )
    parser.add_argument(
        "--quiet", type=float, default=1.0, metavar="SECONDS", help="to see that the client sends nothing (1)"
    )
    parser.add_argument("command", nargs=REMAINDER, metavar="COMMAND", help="the client, with {agent} for its agent")
    parser.set_defaults(run=partial(_check, parser))


def _check(parser: ArgumentParser, options: Namespace) -> int:
    words = options.command[1:] if options.command[:1] == ["--"] else options.command
    words = [*words, *shlex.split(options.prompt_args)]
    if not any("{agent}" in word for word in words):
        parser.error("the command has no {agent}, which becomes the path of the agent")
    command = Command(words, options.stdin, options.answer, options.deadline, options.quiet, by_hand=options.by_hand)
    try:
        results = asyncio.run(_run(command, options.only or [*SCENARIOS], prints=options.format == "text"))
    except OSError as error:
        sys.stderr.write(f"acp-bindings: {error}\n")
        return 2
    if options.format == "text":
        sys.stdout.write(f"{summary_of(results)}\n")
    else:
        report = json_of(words, results) if options.format == "json" else junit_of(results)
        sys.stdout.write(f"{report}\n")
    return 0 if is_met(results) else 1


async def _run(command: Command, ids: list[str], *, prints: bool) -> list[Result]:
    results: list[Result] = []
    for id in ids:
        results.append(await run(SCENARIOS[id], command))
        if prints:
            sys.stdout.write(f"{text_of(results[-1])}\n")
            sys.stdout.flush()
        if id == "messages" and not any(b'"session/prompt"' in line for _, _, line in results[-1].entries):
            sys.stderr.write(f"acp-bindings: {_NO_PROMPT}\n")
            break
    return results
