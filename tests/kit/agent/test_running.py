"""A command of a turn runs in the client's terminal or in a process of the agent, and gives the same result."""

from __future__ import annotations

import asyncio
import gc
import sys
import weakref
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.client import TerminalHandlers, Terminals
from acp_kit.testing import ScriptedAgent, connect
from acp_runtime import InternalError, InvalidParams, RemoteError, ResourceNotFound
from tests.support.kit.turns import (
    KeepingClient,
    client_with_terminals,
    client_without_terminals,
    conversation,
    result_of,
)

Clients: TypeAlias = Callable[[Path], AbstractAsyncContextManager[Any]]

either = pytest.mark.parametrize(
    "clients", [client_without_terminals, client_with_terminals], ids=["as a process", "in a terminal"]
)
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a POSIX shell")


async def run(clients: Clients, folder: Path, *args: str, **options: Any) -> Any:
    """Run a command in a turn, and return its result, or the exception."""
    async with clients(folder) as client:
        return await result_of(lambda turn: turn.run(*args, **options), client, folder)


@either
async def test_a_program_gives_its_output_and_exit_code(clients: Clients, tmp_path: Path) -> None:
    program = "import sys; print('out', flush=True); print(sys.argv[1], file=sys.stderr); sys.exit(3)"
    result = await run(clients, tmp_path, sys.executable, "-c", program, "a b")
    assert asdict(result) == {
        "exit_code": 3,
        "signal": None,
        "output": "out\na b\n",
        "truncated": False,
        "timed_out": False,
    }


@either
async def test_a_line_of_shell_runs_in_the_session_s_folder_with_variables(clients: Clients, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "notes.txt").write_text("one\ntwo\n")
    line = "cat notes.txt | tail -n 1 && echo $GREETING; kill -KILL $$"
    result = await run(clients, tmp_path, line, shell=True, cwd="sub", env={"GREETING": "hello"})
    assert (result.output, result.exit_code, result.signal) == ("two\nhello\n", None, "SIGKILL")
    assert (await run(clients, tmp_path, "pwd")).output.strip() == str(tmp_path.resolve())
    result = await run(clients, tmp_path, "echo $0", "a b", "$c", shell=True)
    assert result.output.endswith(" a b $c\n")


async def test_a_process_inherits_the_given_variables_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    monkeypatch.setenv("REGION", "eu")
    line = "echo ${HOME:+home} ${API_KEY:-none} ${REGION:-none} $GREETING"
    for inherit, expected in (
        (True, "home secret eu hi"),
        (False, "home none none hi"),
        (["PATH", "REGION"], "none eu hi"),
    ):
        result = await run(
            client_without_terminals, tmp_path, line, shell=True, env={"GREETING": "hi"}, inherit_env=inherit
        )
        assert result.output.strip() == expected


@either
async def test_the_end_of_the_output_is_kept_from_a_whole_character_on(clients: Clients, tmp_path: Path) -> None:
    result = await run(clients, tmp_path, "printf 'äöü%d' 1", shell=True, output_byte_limit=4)
    assert (result.output, result.truncated) == ("ü1", True)
    result = await run(clients, tmp_path, "yes | head -c 1000000", shell=True)
    assert (len(result.output), result.truncated) == (50_000, True)


@either
async def test_a_command_that_takes_too_long_is_killed_and_keeps_its_output(clients: Clients, tmp_path: Path) -> None:
    result = await run(clients, tmp_path, "echo begun; exec sleep 1000", shell=True, timeout=0.5)
    assert (result.timed_out, result.exit_code, result.signal) == (True, None, "SIGTERM")
    assert result.output in {"begun\n", ""}  # on a busy machine, it may not have begun


@either
async def test_a_program_that_does_not_exist_is_not_found(clients: Clients, tmp_path: Path) -> None:
    assert isinstance(await run(clients, tmp_path, "no-such-program"), ResourceNotFound)
    assert isinstance(await run(clients, tmp_path, "true", cwd="missing"), ResourceNotFound)
    (tmp_path / "file").write_text("")
    assert isinstance(await run(clients, tmp_path, "true", cwd="file"), InvalidParams)
    assert isinstance(await run(clients, tmp_path, "true", "\0"), InvalidParams)


async def test_a_turn_does_not_keep_the_results_of_its_commands(tmp_path: Path) -> None:
    async def act(turn: Turn) -> None:
        result = weakref.ref(await turn.run("true"))
        await asyncio.sleep(0)  # the event loop has it until then
        gc.collect()
        assert result() is None

    async with conversation(cwd=tmp_path) as talk:
        await talk.prompt(act)


async def shown(clients: Clients, folder: Path, *args: str) -> list[Any]:
    """Run a command in a tool call, and return what the call shows."""

    async def step(turn: Turn) -> None:
        async with turn.tool_call("Run", kind="execute") as call:
            await turn.run(*args, call=call)

    async with clients(folder) as client, connect(ScriptedAgent(step), client, cwd=folder) as session:
        await session.ask("go")
        (call,) = session.state.tool_calls.values()
        return [*(call.content or ())]


async def test_a_tool_call_shows_the_terminal(tmp_path: Path) -> None:
    content = await shown(client_with_terminals, tmp_path, "echo", "hello")
    assert [part.type for part in content] == ["terminal"]


async def test_a_tool_call_has_its_terminal_before_that_is_released(tmp_path: Path) -> None:
    order: list[str] = []

    async with client_with_terminals(tmp_path) as runner:

        def noting(agent: v1.RemoteAgent) -> Any:
            client: Any = runner(agent)
            update, release = client.session_update, client.terminal_release

            async def session_update(notification: Any) -> None:
                order.extend(part.type for part in notification.update.content or () if part.type == "terminal")
                await update(notification)

            async def terminal_release(request: Any) -> Any:
                order.append("release")
                return await release(request)

            client.session_update, client.terminal_release = session_update, terminal_release
            return client

        async def step(turn: Turn) -> None:
            async with turn.tool_call("Run", kind="execute") as call:
                await turn.run("true", call=call)

        async with connect(ScriptedAgent(step), noting, cwd=tmp_path) as session:
            await session.ask("go")
    assert order.index("terminal") < order.index("release")


async def test_a_tool_call_shows_the_output_of_a_process(tmp_path: Path) -> None:
    (part,) = await shown(client_without_terminals, tmp_path, "echo", "hello")
    assert part.content.text == "hello\n"
    assert await shown(client_without_terminals, tmp_path, "true") == []


async def test_nothing_runs_in_a_turn_that_has_ended(tmp_path: Path) -> None:
    ended: list[Turn] = []

    async def keep(turn: Turn) -> None:
        ended.append(turn)

    async def run_in_ended_turn(turn: Turn) -> None:
        with pytest.raises(RuntimeError, match="has ended"):
            await ended[0].run("true")
        await turn.say("refused")

    async with connect(ScriptedAgent(keep, run_in_ended_turn), KeepingClient, cwd=tmp_path) as session:
        await session.ask("first")
        await session.ask("second")
        assert [update.content.text for update in session.agent.handler.updates] == ["refused"]


class Refusing(TerminalHandlers, KeepingClient):
    """Refuses terminals."""

    async def terminal_create(self, request: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        raise InternalError("not now")


async def test_a_command_that_the_client_refuses_is_not_run_elsewhere(tmp_path: Path) -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Run") as call:
            with pytest.raises(RemoteError, match="not now"):
                await turn.run("touch here", shell=True, call=call)

    async with conversation(Refusing, v1.ClientCapabilities(terminal=True), tmp_path) as talk:
        await talk.prompt(act)
        assert talk.updates[-1].content in (None, [])
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("sent", "output", "truncated"),
    [("ä" * 100, "ää", True), ("a\udcff", "a\udcff", False)],
    ids=["over the limit", "a lone surrogate"],
)
async def test_any_output_of_a_client_is_taken_and_cut_to_the_limit(
    sent: str, output: str, truncated: bool, tmp_path: Path
) -> None:
    class Client(TerminalHandlers, KeepingClient):
        async def terminal_output(self, request: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
            return v1.TerminalOutputResponse(output=sent, truncated=False)

    async with Terminals(tmp_path) as terminals:
        Client.terminals = terminals
        result = await result_of(lambda turn: turn.run("true", output_byte_limit=5), Client, tmp_path)
    assert (result.output, result.truncated) == (output, truncated)
