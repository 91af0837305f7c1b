"""What a `ScriptedClient` answers, advertises and keeps."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.client import Terminals, open_session
from acp_kit.testing import EDITORS, ScriptedAgent, ScriptedClient, as_client, connect
from acp_runtime import CapabilityError, MethodNotFound, RemoteError

OPTIONS = [
    v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
    v1.PermissionOption(option_id="no", name="No", kind="reject_once"),
]


async def ask(turn: Turn) -> None:
    async with turn.tool_call("Delete it") as call:
        await turn.say(f"{await call.ask(OPTIONS)}")
    if call.rejected:
        await turn.say("rejected")


async def test_permissions_are_answered_in_order_by_kind_or_id() -> None:
    client = ScriptedClient(permissions=["allow_once", "no", None])
    async with connect(ScriptedAgent(ask, ask, [ask, "more"]), client) as session:
        assert await session.ask("1") == "yes"
        assert await session.ask("2") == "rejected"
        with pytest.raises(AssertionError, match="was asked 2 of 3 times"):
            client.assert_done()
        async with session.prompt("3") as turn:
            await turn.wait()
        assert turn.stop_reason == "cancelled"
    assert [request.tool_call.title for request in client.permission_requests] == ["Delete it"] * 3
    client.assert_done()


async def test_a_permission_can_be_decided_by_a_function() -> None:
    is_open = asyncio.Event()

    async def hold(request: v1.RequestPermissionRequest) -> str:
        is_open.set()
        return await asyncio.Future[str]()

    client = ScriptedClient(permissions=[hold])
    async with connect(ScriptedAgent(ask), client) as session:
        async with session.prompt("1") as turn:
            await is_open.wait()
            await turn.cancel()
        assert turn.stop_reason == "cancelled"


@pytest.mark.parametrize(
    ("permissions", "problem"),
    [
        ([], "The script has 0 answers, and this is question 1: Delete it"),
        (["allow_always"], "question 1 with allow_always, but Delete it offers yes (allow_once), no (reject_once)"),
    ],
)
async def test_a_question_that_the_script_cannot_answer_is_an_error(permissions: list[Any], problem: str) -> None:
    with pytest.raises(RemoteError) as caught:
        async with connect(ScriptedAgent(ask), ScriptedClient(permissions=permissions)) as session:
            await session.ask("1")
    assert any(problem in note for note in caught.value.__notes__)


async def test_files_are_read_and_written_by_relative_and_absolute_paths() -> None:
    async def work(turn: Turn) -> None:
        client, id = turn.session.client, turn.session.id
        part = await client.fs_read_text_file(session_id=id, path=str(turn.session.cwd / "a.txt"), line=2, limit=1)
        await turn.write_text_file("sub/b.txt", part.content)
        await client.fs_write_text_file(session_id=id, path="/else/c.txt", content="new")
        with pytest.raises(RemoteError, match="There is no file /else/d"):
            await client.fs_read_text_file(session_id=id, path="/else/d.txt")

    client = ScriptedClient(files={"a.txt": "one\ntwo\nthree\n", "/else/c.txt": "old"})
    async with connect(ScriptedAgent(work), client, cwd="/project") as session:
        await session.ask("1")
    assert client.files == {"a.txt": "one\ntwo\nthree\n", "sub/b.txt": "two\n", "/else/c.txt": "new"}


async def test_relative_paths_belong_to_the_session_that_asks() -> None:
    async def read(turn: Turn) -> None:
        await turn.say(await turn.read_text_file("a.txt"))

    agent, client = ScriptedAgent(read, read), ScriptedClient(files={"a.txt": "x"})
    async with connect(agent, client) as session, open_session(session.agent, cwd="/other") as other:
        assert [await session.ask("1"), await other.ask("2")] == ["x", "x"]


async def test_commands_run_in_the_terminals_of_the_kit() -> None:
    async def run(turn: Turn) -> None:
        done = await turn.run(sys.executable, "-c", "print('ran'); exit(3)")
        await turn.say(f"{done.output} {done.exit_code}")

    async with Terminals() as terminals:
        client = ScriptedClient(terminals=terminals)
        async with connect(ScriptedAgent(run), client) as session:
            assert await session.ask("1") == "ran\n 3"
    assert client.capabilities.terminal


async def test_what_is_not_advertised_is_not_served() -> None:
    errors: list[int | str] = []

    async def call(turn: Turn) -> None:
        client, id = turn.session.client, turn.session.id
        for calling in (
            client.fs_read_text_file(session_id=id, path="/a"),
            client.fs_write_text_file(session_id=id, path="/a", content=""),
            client.terminal_create(session_id=id, command="true"),
            client.ext_request("_acme/ping"),
        ):
            try:
                await calling
            except CapabilityError as error:
                errors.append(str(error).split()[0])
            except MethodNotFound as error:
                errors.append(error.code)

    files_only = v1.ClientCapabilities(fs=v1.FileSystemCapabilities(read_text_file=True))
    async with connect(ScriptedAgent(call), ScriptedClient(files={"/a": ""}, capabilities=files_only)) as session:
        await session.ask("1")
    assert errors == ["fs/write_text_file", "terminal/create", -32601]


@pytest.mark.parametrize("name", EDITORS)
async def test_a_preset_is_what_the_agent_sees(name: str) -> None:
    seen: list[Any] = []

    async def look(turn: Turn) -> None:
        seen.append(turn.session.client.capabilities)
        await turn.say(await turn.read_text_file("a.txt"))

    client = ScriptedClient(files={"a.txt": "x"}, capabilities=as_client(name))
    async with connect(ScriptedAgent(look), client) as session:
        assert await session.ask("1") == "x"
    assert seen[0].model_dump(mode="json", exclude_unset=True) == EDITORS[name]["capabilities"]


def test_permissions_are_a_list() -> None:
    with pytest.raises(TypeError, match=r"permissions must be a list, such as \['allow_once'\]"):
        ScriptedClient(permissions="allow_once")


def test_an_unknown_editor_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'emacs' is not one of acpx, toad, zed"):
        as_client("emacs")
