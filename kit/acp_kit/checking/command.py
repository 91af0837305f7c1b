"""The commands `check-client` and `check-agent`."""

from __future__ import annotations

import asyncio
import shlex
import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from acp_kit.checking.agent import AgentCommand
from acp_kit.checking.agent_scenarios import AGENT_SCENARIOS
from acp_kit.checking.client import ClientCommand
from acp_kit.checking.client_scenarios import CLIENT_SCENARIOS
from acp_kit.checking.report import format_json, format_junit, format_summary, format_text, violates_must
from acp_kit.checking.running import Result, run_agent, run_client
from acp_kit.checking.scenario import Scenario, Scenarios
from acp_kit.common.command_line import CommandParser, explain_start

_CLIENT = """\
For each scenario, the client is started with an agent that plays it: usual and rare behaviour of real agents.

In the client's command, {agent} is replaced by the path of this agent, and {prompt} by a text. The client must send one
prompt, and exit with 0 after the response.

examples:
  acp-bindings check-client --prompt-args 'exec {prompt}' -- acpx --approve-all --agent {agent}
  acp-bindings check-client -- python my_client.py {agent} {prompt}
  acp-bindings check-client --stdin '{prompt}' --answer 1 -- my-client {agent}    a client that reads from stdin
  acp-bindings check-client --by-hand --deadline 60 -- toad acp {agent} .         an editor, in which you type a prompt
  acp-bindings check-client --only cancel --only noise -- my-client {agent}       some scenarios
"""
_AGENT = """\
For each scenario, the agent is started with a client that plays it. The client advertises nothing, rejects what the
agent asks permission for, and works in an empty temporary folder. About half of the scenarios send prompts.

examples:
  acp-bindings check-agent -- gemini --acp
  acp-bindings check-agent --only cancel --long-prompt 'Write a novel.' -- my-agent
"""
_EXIT_CODE = """
Exit code: 0 if no MUST failed, 1 if one failed, 2 if the program can't be started. A MUST is required by the
specification. A SHOULD is recommended by it, or where it is silent, needed for existing programs.
"""
_NO_PROMPT = """\
the client has sent no prompt, so the other scenarios are skipped. Make it send one with {prompt}, --prompt-args,
--stdin or --by-hand: see acp-bindings check-client --help"""


def add_check_client(parser: CommandParser) -> None:
    """Add the arguments of `check-client`, and set `run`."""
    add = parser.add_argument
    add("--prompt-args", default="", metavar="ARGS", help="arguments to add to CMD, so that it sends {prompt}")
    add("--load-args", metavar="ARGS", help="arguments to add instead, so that it loads {session} first; if it can")
    add("--stdin", metavar="TEXT", help="type this line into the client's stdin, such as '{prompt}'")
    add("--answer", metavar="TEXT", help="type this line whenever the agent asks for permission")
    add("--by-hand", action="store_true", help="you type a prompt in each scenario, and cancel when the agent says so")
    _add_common(parser, CLIENT_SCENARIOS, _CLIENT, deadline=10)
    parser.add_command("the client, with {agent} for its agent", words="CMD {agent} ...")
    parser.set_defaults(run=partial(_check_client, parser))


def add_check_agent(parser: CommandParser) -> None:
    """Add the arguments of `check-agent`, and set `run`."""
    add = parser.add_argument
    add("--prompt", default=AgentCommand.prompt, metavar="TEXT", help="a prompt that the agent answers quickly")
    add("--long-prompt", default=AgentCommand.long_prompt, metavar="TEXT", help="a slow prompt, to be cancelled")
    add("--login", metavar="ID", help="use this login method before a session is opened")
    _add_common(parser, AGENT_SCENARIOS, _AGENT, deadline=60)
    parser.add_command("the agent")
    parser.set_defaults(run=_check_agent)


def _add_common(parser: CommandParser, scenarios: Scenarios, text: str, *, deadline: int) -> None:
    width = max(map(len, scenarios))
    listed = "".join(f"  {id:{width}}  {scenario.level:6}  {scenario.rule}\n" for id, scenario in scenarios.items())
    parser.epilog = f"{text}{_EXIT_CODE}\nscenarios:\n{listed}"
    parser.formatter_class = RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--protocol-version", type=int, choices=[1, 2], default=1, help="the version of the protocol (default: 1)")
    add("--only", action="append", choices=scenarios, metavar="ID", help="run this scenario; can be repeated")
    add("--format", choices=["text", "json", "junit"], default="text", help="the format of the report (default: text)")
    add(
        "--deadline",
        type=float,
        default=float(deadline),
        metavar="SECONDS",
        help=f"the limit for each step of a scenario (default: {deadline})",
    )
    add(
        "--quiet-time",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="how long to watch for messages that must not be sent (default: 1)",
    )


def _check_client(parser: CommandParser, options: Namespace) -> int:
    words: list[str] = options.command
    if not any("{agent}" in word for word in words):
        parser.error("the command has no {agent}, which is replaced by the path of the agent")
    command = ClientCommand(
        [*words, *shlex.split(options.prompt_args)],
        load_arguments=None if options.load_args is None else [*words, *shlex.split(options.load_args)],
        stdin=options.stdin,
        answer=options.answer,
        deadline=options.deadline,
        quiet_time=options.quiet_time,
        by_hand=options.by_hand,
        version=options.protocol_version,
    )
    return _check(options, command.arguments, CLIENT_SCENARIOS, lambda scenario: run_client(scenario, command))


def _check_agent(options: Namespace) -> int:
    command = AgentCommand(
        options.command,
        prompt=options.prompt,
        long_prompt=options.long_prompt,
        login=options.login,
        deadline=options.deadline,
        quiet_time=options.quiet_time,
        version=options.protocol_version,
    )
    return _check(options, command.arguments, AGENT_SCENARIOS, lambda scenario: run_agent(scenario, command))


def _check(
    options: Namespace, words: Sequence[str], scenarios: Scenarios, run: Callable[[Scenario], Awaitable[Result]]
) -> int:
    chosen = [scenarios[id] for id in options.only or scenarios if options.protocol_version in scenarios[id].versions]
    name = "check-client" if scenarios is CLIENT_SCENARIOS else "check-agent"
    try:
        results = asyncio.run(_run(chosen, run, prints=options.format == "text"))
    except OSError as error:
        if error.filename != words[0]:
            raise
        sys.stderr.write(f"acp-bindings {name}: {explain_start(error, words)}\n")
        return 2
    match options.format:
        case "json":
            report = format_json(words, results)
        case "junit":
            report = format_junit(name, results)
        case _:
            report = format_summary(results)
    sys.stdout.write(f"{report}\n")
    return int(any(map(violates_must, results)))


async def _run(
    scenarios: Sequence[Scenario], run: Callable[[Scenario], Awaitable[Result]], *, prints: bool
) -> list[Result]:
    results: list[Result] = []
    for scenario in scenarios:
        results.append(await run(scenario))
        if prints:
            sys.stdout.write(f"{format_text(results[-1])}\n")
            sys.stdout.flush()
        entries = results[-1].entries
        if scenario is CLIENT_SCENARIOS["messages"] and not any(b'"session/prompt"' in entry.data for entry in entries):
            sys.stderr.write(f"acp-bindings: {_NO_PROMPT}\n")
            break
        if scenario is AGENT_SCENARIOS["messages"] and not any(entry.direction == "a2c" for entry in entries):
            sys.stderr.write("acp-bindings: the agent has sent nothing, so the other scenarios are skipped\n")
            break
    return results
