"""Recordings are played to other clients, and what doesn't match is explained."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from acp_kit.agent import Turn
from acp_kit.client import open_session
from acp_kit.recording import read_recording
from acp_kit.testing import Replay, ScriptedAgent, ScriptedClient, as_client, connect, wait
from acp_kit.testing.connecting import RECORD
from acp_runtime import Options, RemoteError, RequestError
from acp_runtime.transports import StreamTransport


async def edit(turn: Turn) -> None:
    async with turn.tool_call("Edit a.txt", kind="edit") as call:
        await call.ask()
        await turn.write_text_file("a.txt", await turn.read_text_file("a.txt") + "y")
        await turn.say(f"{turn.session.cwd}/a.txt, not {turn.session.cwd}house")


def make_client(*permissions: str | None) -> ScriptedClient:
    return ScriptedClient(permissions=permissions, files={"a.txt": "x"})


async def record(folder: Path, *script: Any, permissions: tuple[str | None, ...] = (), cwd: str = "/work") -> Path:
    """Record a session in which a client sends the prompts 1, 2 and so on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(RECORD, str(folder))
        async with connect(ScriptedAgent(*script), make_client(*permissions), cwd=cwd) as session:
            for number in range(len(script)):
                async with session.prompt(str(number + 1)) as turn:
                    with suppress(RemoteError):
                        await turn.wait()
    (file,) = folder.iterdir()
    return file


async def test_a_recording_is_played_to_another_client(tmp_path: Path) -> None:
    file = await record(tmp_path, "Hello", edit, RequestError(429, "quota"), permissions=("allow_once",))
    agent, client = ScriptedAgent.from_recording(file), make_client("allow_once")
    client.capabilities = as_client("toad")
    async with connect(agent, client, cwd="/elsewhere") as session:
        assert await session.ask("1") == "Hello"
        assert await session.ask("2") == "/elsewhere/a.txt, not /workhouse"
        with pytest.raises(RemoteError, match="quota"):
            await session.ask("3")
    assert client.files == {"a.txt": "xy"}
    agent.assert_done()


async def test_a_terminal_has_the_id_that_the_client_gives_it(tmp_path: Path) -> None:
    async def run(turn: Turn) -> None:
        await turn.run("make")

    agent, client = Replay(await record(tmp_path, run, run)), make_client()
    client.ran.append("something before, so that ids differ")
    async with connect(agent, client) as session:
        await session.ask("1")
        await session.ask("2")
    assert client.ran[1:] == ["make", "make"]
    agent.assert_done()


async def test_a_cancelled_turn_is_played_when_the_client_cancels(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(RECORD, str(tmp_path))
        async with connect(ScriptedAgent(["a", wait]), make_client()) as session, session.prompt("1") as turn:
            async for _ in turn:
                break
    (file,) = tmp_path.iterdir()
    agent = Replay(file)
    async with connect(agent, make_client()) as session, session.prompt("1") as turn:
        async for _ in turn:
            assert agent.where == "the recording waits for session/cancel (line 7)"
            break
    assert turn.stop_reason == "cancelled"
    agent.assert_done()


async def test_sessions_may_come_in_another_order(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(RECORD, str(tmp_path))
        async with connect(ScriptedAgent("a", "b"), make_client()) as one, open_session(one.agent, cwd="/") as two:
            assert await asyncio.gather(one.ask("1"), two.ask("2")) == ["a", "b"]
    agent = Replay(next(tmp_path.iterdir()))
    async with connect(agent, make_client()) as one, open_session(one.agent, cwd="/") as two:
        later, first = asyncio.create_task(two.ask("2")), asyncio.create_task(one.ask("1"))
        assert [await first, await later] == ["a", "b"]
    agent.assert_done()


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        (
            "hello",
            '(line 5): prompt[0].text is "hello", recorded is "1"',
        ),
        ("1", "(line 5), which was played already"),
    ],
)
async def test_a_prompt_that_was_not_recorded_is_explained(prompt: str, problem: str, tmp_path: Path) -> None:
    agent = Replay(await record(tmp_path, "a", "b"))
    async with connect(agent, make_client()) as session:
        if prompt == "1":
            await session.ask("1")
        with pytest.raises(RemoteError) as caught:
            await session.ask(prompt)
    assert caught.value.message == f"The nearest in the recording is session/prompt {problem}"
    assert agent.problems == [caught.value.message]
    with pytest.raises(AssertionError, match="The replay isn't done: The nearest"):
        agent.assert_done()


async def test_a_method_that_was_not_recorded_is_named(tmp_path: Path) -> None:
    agent = Replay(await record(tmp_path, "a"))
    async with connect(agent, make_client()) as session:
        with pytest.raises(RemoteError, match="no _acme/ping, only initialize, session/new, session/prompt"):
            await session.agent.ext_request("_acme/ping")


async def test_a_call_that_is_given_up_is_no_problem(tmp_path: Path) -> None:
    agent = Replay(await record(tmp_path, edit, permissions=("allow_once",)))
    async with connect(agent, make_client("allow_once")) as session:
        call = asyncio.create_task(session.agent.ext_request("_acme/ping"))
        await asyncio.sleep(0)
        call.cancel()
        assert await session.ask("1") == "/work/a.txt, not /workhouse"
    assert len(agent.problems) == 1


async def test_another_decision_of_the_user_ends_the_replay(tmp_path: Path) -> None:
    agent = Replay(await record(tmp_path, edit, permissions=("allow_once",)))
    client = make_client("reject_once")
    async with connect(agent, client) as session:
        for _ in range(2):
            with pytest.raises(RemoteError) as caught:
                await session.ask("1")
            assert 'outcome.optionId is "reject_once", recorded is "allow_once"' in caught.value.message
    assert client.files == {"a.txt": "x"}


async def test_a_recording_that_was_cut_off_says_so(tmp_path: Path) -> None:
    file = await record(tmp_path, "a")
    *lines, _ = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines))
    async with connect(Replay(file), make_client()) as session:
        with pytest.raises(RemoteError, match="The recording ends before the answer"):
            await session.ask("1")


async def test_what_is_left_of_a_recording_is_not_done(tmp_path: Path) -> None:
    agent = Replay(await record(tmp_path, "a", "b"))
    async with connect(agent, make_client()) as session:
        await session.ask("1")
    with pytest.raises(AssertionError, match=r"the recording waits for session/prompt \(line 8\)"):
        agent.assert_done()


@pytest.mark.slow
async def test_the_command_plays_a_recording(tmp_path: Path) -> None:
    file = await record(tmp_path, "Hello")
    async with connect([sys.executable, "-m", "acp_kit", "replay", str(file)], make_client()) as session:
        assert await session.ask("1") == "Hello"
        with pytest.raises(RemoteError, match="The nearest in the recording"):
            await session.ask("2")
    assert session.agent.process is not None
    assert "The replay isn't done" in session.agent.process.stderr_tail


def test_the_command_refuses_other_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from acp_kit.__main__ import main

    (tmp_path / "notes.txt").write_text("hello\n")
    assert main(["replay", str(tmp_path / "notes.txt")]) == 2
    assert "notes.txt is not a recording" in capsys.readouterr().err


class RawClient:
    """Sends the client's messages of a recording, and compares what comes with it."""

    def __init__(self, transport: StreamTransport) -> None:
        self._transport = transport
        self._unread: list[Any] = []
        self._rest = b""

    async def send(self, message: Any) -> None:
        await self._transport.send(json.dumps(message).encode() + b"\n")

    async def receive(self) -> Any:
        while not self._unread:
            *lines, self._rest = (self._rest + await self._transport.receive()).split(b"\n")
            self._unread = [json.loads(line) for line in lines]
        return self._unread.pop(0)


@asynccontextmanager
async def replaying(agent: Replay) -> AsyncIterator[RawClient]:
    ours, theirs = [StreamTransport(*await asyncio.open_connection(sock=end)) for end in socket.socketpair()]
    serving = asyncio.create_task(agent.serve(theirs, Options(), lambda _: theirs.close()))
    yield RawClient(ours)
    await ours.close()
    await serving


async def test_recorded_traffic_of_real_agents_is_played_to_its_end() -> None:
    """The client's ids differ from those of the recording, and the agent's from both."""
    folder = os.environ.get("ACP_RECORDINGS")
    if folder is None:
        pytest.skip("ACP_RECORDINGS names no folder with recorded traffic.")
    for file in sorted(Path(folder).glob("*.jsonl")):
        agent, ids = Replay(file), dict[str, Any]()
        async with replaying(agent) as client:
            for entry in read_recording(file):
                message, asked = entry.message, f"{entry.direction} {(entry.message or {}).get('id')}"
                if entry.direction == "a2c" and message and not message.get("method", "").startswith("$/"):
                    received = await client.receive()
                    ids[asked] = received.get("id")
                    assert {**received, "id": 0} == {**message, "id": 0}, f"{file}, line {entry.number}"
                elif entry.direction == "c2a" and "method" in (message or {}):
                    await client.send({**message, "id": f"own {message['id']}"} if "id" in message else message)
                elif entry.direction == "c2a" and (id := ids.get(f"a2c {message['id']}")) is not None:
                    await client.send({**message, "id": id})
        agent.assert_done()
