"""The reply goes to stdout, everything else to stderr. Control characters in texts of the agent are escaped.

If the agent asks for permission, you are asked on the terminal. If stdin or stderr is not a terminal, the agent's tool
call is rejected, unless --allow names its kind.

Ctrl-C cancels the turn. Ctrl-C again stops the agent.

With --json, each line of stdout is an object. Its `type` says which other keys it has:
  session     sessionId
  update      update: an update of the protocol, as the agent sent it (session/update)
  permission  toolCall, options, optionId: a permission request that --allow didn't answer, and the chosen option;
              null if it was rejected
  end         stopReason, text: the whole reply. The last line, if the agent answered
  error       message. The last line otherwise

Exit codes: 0: the agent has ended the turn; 1: it stopped for another reason, such as max_tokens or refusal, failed or
answered with an error; 2: an argument is wrong; 3: a login is needed; 127: the agent can't be started; 130: cancelled.

examples:
  acp-bindings ask "What is in this folder?" -- gemini --acp
  git diff | acp-bindings ask - -- gemini --acp
  acp-bindings ask "And the tests?" --session 7f3c -- gemini --acp
"""

from __future__ import annotations

import os
import signal
import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Timer

from acp_bindings import v1
from acp_kit.asking.output import JsonOutput, TextOutput
from acp_kit.client import allow
from acp_kit.client.deadlines import NEEDS_ARGUMENT
from acp_kit.client.permission_rules import Rule
from acp_kit.common.command_line import CommandParser, explain
from acp_kit.sync import SyncAgent, SyncSession, spawn_agent
from acp_runtime import (
    AuthenticationRequired,
    ConnectionClosed,
    GuardError,
    InvalidResponse,
    Options,
    ProtocolVersionMismatch,
    RemoteError,
)
from acp_runtime.escaping import printable

# How long an agent that ignores the cancellation may take to answer once the user has interrupted it again, in seconds.
_CANCEL_SECONDS = 0.5
# How long the agent may be silent at the start before the user is told what it is asked for, in seconds.
_SILENCE_SECONDS = 10.0
_FAILED = 1
_LOGIN_NEEDED = 3
_NOT_STARTED = 127
_CANCELLED = 130


def add_ask(parser: CommandParser) -> None:
    """Add the arguments of `ask`, and set `run`."""
    parser.description = "Ask an agent in the current folder, and print its reply as it arrives."
    parser.epilog = __doc__
    parser.formatter_class = RawDescriptionHelpFormatter
    add = parser.add_argument
    add("question", metavar="QUESTION", help="the prompt; - reads it from stdin")
    add("--session", metavar="ID", help="continue this session")
    add("--allow", action="append", metavar="KIND", help="allow tool calls of this kind, such as read; can be repeated")
    add("--json", action="store_true", help="print a JSON object for each event")
    parser.add_command("the command that starts the agent", before="QUESTION ")
    parser.set_defaults(run=partial(_ask, parser))


def _ask(parser: CommandParser, options: Namespace) -> int:
    try:
        question = sys.stdin.read() if options.question == "-" else options.question
    except UnicodeDecodeError as error:
        parser.error(f"stdin is not text: {error}")
    if not question.strip():
        parser.error("the question is empty")
    try:
        rules = [allow(kinds=options.allow)] if options.allow else []
    except ValueError as error:
        parser.error(f"argument --allow: {error}")
    output = JsonOutput() if options.json else TextOutput()
    try:
        return _ask_agent(output, rules, question, options.session, options.command)
    except KeyboardInterrupt:
        output.fail("Cancelled.")
        return _CANCELLED
    except AuthenticationRequired as error:
        output.fail(_explain_login(error, (), options.command[0]))
        return _LOGIN_NEEDED
    except (RemoteError, ConnectionClosed, GuardError, InvalidResponse, ProtocolVersionMismatch, TimeoutError) as error:
        output.fail(str(error))
        return _FAILED


def _ask_agent(
    output: TextOutput, rules: Sequence[Rule], question: str, session_id: str | None, command: list[str]
) -> int:
    """Start the agent and send it the question. Return the exit code."""
    # All of stderr is passed on, so errors need not repeat its end.
    options = Options(stderr=output.write_stderr, stderr_tail=0)
    try:
        with _explaining_silence(output, f"Waiting for {command[0]} to answer. {NEEDS_ARGUMENT}"):
            agent = spawn_agent(*command, rules=rules, ask=output.ask, options=options)
    except TimeoutError:  # it was started, and doesn't answer
        raise
    except OSError as error:
        output.fail(explain(error))
        return _NOT_STARTED
    with agent:
        try:
            with _explaining_silence(output, f"Waiting for {command[0]} to open a session."):
                session = _open(agent, session_id)
            with session:
                output.begin(session.id)
                return _take_turn(output, agent, session, question)
        except AuthenticationRequired as error:
            output.fail(_explain_login(error, agent.initialized.auth_methods, command[0]))
            return _LOGIN_NEEDED


@contextmanager
def _explaining_silence(output: TextOutput, text: str) -> Generator[None]:
    """Tell the user what a block waits for, if it takes long."""
    timer = Timer(_SILENCE_SECONDS, output.note, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _open(agent: SyncAgent, session_id: str | None) -> SyncSession:
    if session_id is None:
        return agent.open_session()
    if agent.remote.supports("session/resume"):
        return agent.open_session(resume=session_id)
    return agent.open_session(load=session_id)


def _take_turn(output: TextOutput, agent: SyncAgent, session: SyncSession, question: str) -> int:
    with session.prompt(question, cancel_deadline=_CANCEL_SECONDS) as turn:
        try:
            for update in turn:
                output.show(update)
        except KeyboardInterrupt:
            try:
                output.note("Cancelling the turn. Ctrl-C again ends the agent.")
                turn.cancel()
                for update in turn:
                    output.show(update)
            except KeyboardInterrupt:
                _terminate(agent)
                raise
    stop_reason = "cancelled" if turn.cancelled else str(turn.stop_reason)
    can_continue = any(map(agent.remote.supports, ("session/load", "session/resume")))
    output.end(stop_reason, turn.text, session.id if can_continue else None)
    if stop_reason == "cancelled":
        return _CANCELLED
    return 0 if stop_reason == "end_turn" else _FAILED


def _terminate(agent: SyncAgent) -> None:
    """End the agent, without the time that it has otherwise to end by itself."""
    process = agent.remote.process
    if process is not None and process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)


def _explain_login(error: AuthenticationRequired, methods: Sequence[v1.AuthMethod], program: str) -> str:
    offered = "".join(
        f"\n  {printable(method.name)}{f': {printable(method.description)}' if method.description else ''}"
        for method in methods
    )
    advice = f"Log in with the agent's own program ({printable(program)}) or set the key that it needs, then ask again."
    return f"{error}. {advice}" + (f" It offers these logins:{offered}" if offered else "")
