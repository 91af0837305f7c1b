"""Runs the login command of an agent in the user's terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from acp_bindings.v1 import AuthMethodTerminal
from acp_kit.common.shielded_tasks import run_within
from acp_runtime.commands import environment, explain_start_errors, find_program

# How long a login may take to end after SIGTERM, in seconds.
_TERMINATE_DEADLINE = 2.0


async def log_in_from_terminal(
    method: AuthMethodTerminal,
    command: str,
    *args: str,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    inherit_env: bool | Collection[str] = True,
) -> int:
    """Run an agent's login in this process's terminal, and wait until it ends.

    A running agent may not notice the login, so restart it afterwards:

        async with spawn_agent(MyClient, "my-agent", "--acp") as agent:
            (method,) = (await agent.initialize(...)).auth_methods
        if await log_in_from_terminal(method, "my-agent", "--acp") == 0:
            async with spawn_agent(MyClient, "my-agent", "--acp") as agent:
                await agent.initialize(...)

    The login is the agent's command with the arguments and the environment variables of the login method. It uses the
    stdin, stdout and stderr of this process, so nothing else may use the terminal meanwhile. Don't call `authenticate`
    for such a method.

    If this is cancelled, the login is stopped.

    Args:
        method: one of `auth_methods` in the response to `initialize`. Agents offer it only to clients that advertise
            `auth.terminal`.
        command: the agent's program, as for `spawn_agent`.
        args: its arguments. Those of the method are added.
        cwd: the folder to run it in; by default this process's.
        env: environment variables to set. Those of the method have precedence.
        inherit_env: the environment variables of this process to inherit, as for `spawn_agent`.

    Returns:
        The exit code, negative for a signal. 0 means that the user is logged in.

    Raises:
        ValueError: if the method is of another type.
        OSError: if the command can't be started. The message names it.
    """
    if getattr(method, "type", None) != "terminal":
        raise ValueError(
            f"The login method {method.id!r} doesn't run in a terminal. Call `agent.authenticate` instead."
        )
    variables = environment({**(env or {}), **method.env}, inherit_env)
    arguments = (*args, *method.args)
    with explain_start_errors(command, cwd, variables, role="the login"):
        program = find_program(command, arguments, variables)
        process = await asyncio.create_subprocess_exec(program, *arguments, cwd=cwd, env=variables)
    try:
        return await process.wait()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            process.terminate()
            try:
                await run_within(process.wait(), _TERMINATE_DEADLINE)
            finally:
                process.kill()
                await process.wait()
        raise
