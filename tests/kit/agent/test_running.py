"""A command of a turn runs in the client's terminal or in a process of the agent, and gives the same result."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.client import ClientSession, TerminalHandlers, Terminals
from acp_runtime import InternalError, RemoteError
from tests.support.kit.turn_agent import act, opened, opened_with_terminals
from tests.support.kit.turns import KeepingClient, conversation

Opened: TypeAlias = Callable[[Path], AbstractAsyncContextManager[ClientSession]]

either = pytest.mark.parametrize("opening", [opened, opened_with_terminals], ids=["as a process", "in a terminal"])
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a POSIX shell")


async def result(session: ClientSession, *args: str, name: str = "run", **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await session.ask(act(name, *args, **options)))
    return found


@either
async def test_a_program_gives_its_output_and_exit_code(opening: Opened, tmp_path: Path) -> None:
    async with opening(tmp_path) as session:
        program = "import sys; print('out', flush=True); print(sys.argv[1], file=sys.stderr); sys.exit(3)"
        assert await result(session, sys.executable, "-c", program, "a b") == {
            "exit_code": 3,
            "signal": None,
            "output": "out\na b\n",
            "truncated": False,
            "timed_out": False,
        }


@either
async def test_a_line_of_shell_runs_in_the_session_s_folder_with_variables(opening: Opened, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "notes.txt").write_text("one\ntwo\n")
    async with opening(tmp_path) as session:
        line = "cat notes.txt | tail -n 1 && echo $GREETING; kill -KILL $$"
        found = await result(session, line, shell=True, cwd="sub", env={"GREETING": "hello"})
        assert (found["output"], found["exit_code"], found["signal"]) == ("two\nhello\n", None, "SIGKILL")
        assert (await result(session, "pwd"))["output"].strip() == str(tmp_path.resolve())
        assert (await result(session, "echo $0", "a b", "$c", shell=True))["output"].endswith(" a b $c\n")


@either
async def test_the_end_of_the_output_is_kept_from_a_whole_character_on(opening: Opened, tmp_path: Path) -> None:
    async with opening(tmp_path) as session:
        found = await result(session, "printf 'äöü%d' 1", shell=True, output_byte_limit=4)
        assert (found["output"], found["truncated"]) == ("ü1", True)
        found = await result(session, "yes | head -c 1000000", shell=True)
        assert (len(found["output"]), found["truncated"]) == (50_000, True)


@either
async def test_a_command_that_takes_too_long_is_killed_and_keeps_its_output(opening: Opened, tmp_path: Path) -> None:
    async with opening(tmp_path) as session:
        found = await result(session, "echo begun; exec sleep 1000", shell=True, timeout=0.5)
        assert (found["timed_out"], found["exit_code"], found["signal"]) == (True, None, "SIGTERM")
        assert found["output"] in {"begun\n", ""}  # on a busy machine, it may not have begun


@either
async def test_a_program_that_does_not_exist_is_not_found(opening: Opened, tmp_path: Path) -> None:
    async with opening(tmp_path) as session:
        assert "ResourceNotFound" in (await result(session, "no-such-program"))["known"]
        assert "ResourceNotFound" in (await result(session, "true", cwd="missing"))["known"]
        (tmp_path / "file").write_text("")
        assert "InvalidParams" in (await result(session, "true", cwd="file"))["known"]
        assert "InvalidParams" in (await result(session, "true", "\0"))["known"]


async def test_a_tool_call_shows_the_terminal(tmp_path: Path) -> None:
    async with opened_with_terminals(tmp_path) as session:
        await result(session, "echo", "hello", name="show")
        (call,) = session.state.tool_calls.values()
        assert [each.type for each in call.content] == ["terminal"]


async def test_a_tool_call_shows_the_output_of_a_process(tmp_path: Path) -> None:
    async with opened(tmp_path) as session:
        await result(session, "echo", "hello", name="show")
        (call,) = session.state.tool_calls.values()
        shown: Any = call.content[0]
        assert shown.content.text == "hello\n"
        await result(session, "true", name="show")
        assert not [*session.state.tool_calls.values()][-1].content


async def test_nothing_runs_in_a_turn_that_has_ended(tmp_path: Path) -> None:
    async with opened(tmp_path) as session:
        await session.ask(act("run", "true"))
        assert "has ended" in await session.ask(act("run_late"))


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


class Endless(TerminalHandlers, KeepingClient):
    """Has terminals that ignore the limit."""

    async def terminal_output(self, request: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        return v1.TerminalOutputResponse(output="ä" * 100, truncated=False)


async def test_the_output_of_a_client_that_ignores_the_limit_is_cut(tmp_path: Path) -> None:
    found: list[Any] = []

    async def act(turn: Turn) -> None:
        found.append(await turn.run("true", output_byte_limit=5))

    async with Terminals(tmp_path) as terminals:

        def client(agent: Any) -> Endless:
            made = Endless(agent)
            made.terminals = terminals
            return made

        async with conversation(client, v1.ClientCapabilities(terminal=True), tmp_path) as talk:
            await talk.prompt(act)
    assert (found[0].output, found[0].truncated) == ("ää", True)
