"""Recordings are played to other clients, and what doesn't match is explained."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from acp_kit.agent import Turn
from acp_kit.client import Terminals, open_session
from acp_kit.recording.file_format import read_recording
from acp_kit.testing import Replay, ScriptedAgent, ScriptedClient, as_client, connect, run_client, wait
from acp_kit.testing.connecting import RECORD, open_transport_pair
from acp_runtime import Options, RemoteError, RequestError
from acp_runtime.transports import StreamTransport


async def edit(turn: Turn) -> None:
    async with turn.tool_call("Edit a.txt", kind="edit") as call:
        await call.ask()
        await turn.write_text_file("a.txt", await turn.read_text_file("a.txt") + "y")
        await turn.say(f"{turn.session.cwd}/a.txt, not {turn.session.cwd}house")


def make_client(*permissions: str | None) -> ScriptedClient:
    return ScriptedClient(permissions=permissions, files={"a.txt": "x"})


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of recordings. Everything is recorded until `replay` is called."""
    monkeypatch.setenv(RECORD, str(tmp_path))
    return tmp_path


def replay(folder: Path) -> Replay:
    del os.environ[RECORD]
    return Replay(next(folder.glob("*.jsonl")))


async def record(folder: Path, *script: Any, permissions: tuple[str | None, ...] = ()) -> Replay:
    """Record a session in which a client sends the prompts 1, 2 and so on."""
    async with connect(ScriptedAgent(*script), make_client(*permissions)) as session:
        for number in range(len(script)):
            async with session.prompt(str(number + 1)) as turn:
                with suppress(RemoteError):
                    await turn.wait()
    return replay(folder)


async def test_a_recording_is_played_to_another_client(recorded: Path) -> None:
    agent = await record(recorded, "Hello", edit, RequestError(429, "quota"), permissions=("allow_once",))
    client = make_client("allow_once")
    client.capabilities = as_client("toad")
    async with connect(agent, client, cwd="/elsewhere") as session:
        assert await session.ask("1") == "Hello"
        assert await session.ask("2") == "/elsewhere/a.txt, not /workhouse"
        with pytest.raises(RemoteError, match="quota"):
            await session.ask("3")
    assert client.files == {"a.txt": "xy"}
    agent.assert_done()


async def test_a_terminal_has_the_id_that_the_client_gives_it(recorded: Path) -> None:
    async def run(turn: Turn) -> None:
        done = await turn.run(sys.executable, "-c", "print('ran')")
        await turn.say(done.output)

    async with Terminals() as terminals:
        client = ScriptedClient(terminals=terminals)
        async with connect(ScriptedAgent(run), client) as session:
            assert await session.ask("1") == "ran\n"
        agent = replay(recorded)
        async with connect(agent, client) as session:
            assert await session.ask("1") == "ran\n"
    agent.assert_done()


async def test_a_cancelled_turn_is_played_when_the_client_cancels(recorded: Path) -> None:
    async with connect(ScriptedAgent(["a", wait]), make_client()) as session, session.prompt("1") as turn:
        async for _ in turn:
            break
    agent = replay(recorded)
    async with connect(agent, make_client()) as session, session.prompt("1") as turn:
        async for _ in turn:
            assert agent.where == "the recording waits for session/cancel (line 7)"
            break
    assert turn.stop_reason == "cancelled"
    agent.assert_done()


async def test_sessions_may_come_in_another_order(recorded: Path) -> None:
    async with connect(ScriptedAgent("a", "b"), make_client()) as one, open_session(one.agent, cwd="/") as two:
        assert await asyncio.gather(one.ask("1"), two.ask("2")) == ["a", "b"]
    agent = replay(recorded)
    async with connect(agent, make_client()) as one, open_session(one.agent, cwd="/") as two:
        later, first = asyncio.create_task(two.ask("2")), asyncio.create_task(one.ask("1"))
        assert [await first, await later] == ["a", "b"]
    agent.assert_done()


@pytest.mark.parametrize(
    ("script", "prompts", "problem"),
    [
        (["a"], ["hello"], "session/prompt (line 5): prompt[0].text is 'hello', recorded is '1'"),
        (["a", "b"], ["1", "1"], "session/prompt (line 5): it was played already"),
        (
            [edit],
            ["1"],
            "the answer to session/request_permission (line 8): "
            "result.outcome.optionId is 'reject_once', recorded is 'allow_once'",
        ),
    ],
)
async def test_what_differs_from_the_recording_is_explained(
    script: list[Any], prompts: list[str], problem: str, recorded: Path
) -> None:
    agent, client = await record(recorded, *script, permissions=("allow_once",)), make_client("reject_once")
    async with connect(agent, client) as session:
        for prompt in prompts[:-1]:
            await session.ask(prompt)
        with pytest.raises(RemoteError) as caught:
            await session.ask(prompts[-1])
    assert agent.problems == [caught.value.message] == [f"The nearest in the recording is {problem}"]
    assert client.files == {"a.txt": "x"}
    with pytest.raises(AssertionError, match="The replay isn't done: The nearest"):
        agent.assert_done()


async def test_a_call_that_is_given_up_is_no_other_problem(recorded: Path) -> None:
    agent = await record(recorded, edit, permissions=("allow_once",))
    async with connect(agent, make_client("allow_once")) as session:
        call = asyncio.create_task(session.agent.ext_request("_acme/ping"))
        await asyncio.sleep(0)
        call.cancel()
        assert await session.ask("1") == "/work/a.txt, not /workhouse"
    assert [problem.partition(": ")[2].partition(",")[0] for problem in agent.problems] == ["method is '_acme/ping'"]


async def test_a_recording_that_was_cut_off_says_so(recorded: Path) -> None:
    await record(recorded, "a")
    (file,) = recorded.iterdir()
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    async with connect(Replay(file), make_client()) as session:
        with pytest.raises(RemoteError, match="The recording ends before the answer"):
            await session.ask("1")


async def test_what_is_left_of_a_recording_is_not_done(recorded: Path) -> None:
    agent = await record(recorded, "a", "b")
    async with connect(agent, make_client()) as session:
        await session.ask("1")
    with pytest.raises(AssertionError, match=r"the recording waits for session/prompt \(line 8\)"):
        agent.assert_done()


LEAVING = """
import json
import subprocess
import sys

agent = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for id, method, params in (
    (0, "initialize", {"protocolVersion": 1}),
    (1, "session/new", {"cwd": "/w", "mcpServers": []}),
):
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    agent.stdin.write(json.dumps(message).encode() + b"\\n")
    agent.stdin.flush()
    agent.stdout.readline()
agent.stdout.close()
agent.stdin.close()
print(agent.wait())
"""


@pytest.mark.slow
async def test_a_client_that_leaves_is_a_quiet_end(recorded: Path) -> None:
    await record(recorded, "Hello")
    (file,) = recorded.iterdir()
    head = file.read_text().splitlines()[:3]
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x" * 1000}}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
    file.write_text("\n".join([*head, *[json.dumps({"direction": "a2c", "message": message})] * 3000]))
    agent = Replay(file)
    async with run_client(agent, [sys.executable, "-c", LEAVING, "{agent}"], deadline=60) as client:
        await client.wait()
    with pytest.raises(AssertionError, match="the client has left, and the recording got to session/update"):
        agent.assert_done()
    command = [sys.executable, "-c", LEAVING, sys.executable, "-m", "acp_kit", "replay", str(file)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr.count("\n")) == ("0\n", 1), done.stderr


async def test_what_was_not_sent_is_listed(recorded: Path) -> None:
    agent = await record(recorded, *"abcdefg")
    async with connect(agent, make_client()) as session:
        await session.ask("1")
    with pytest.raises(AssertionError, match=r"The client has not sent: session/prompt \(line 8\), .*, \.\.\.\.$"):
        agent.assert_done()


async def receive(agent: Replay, line: bytes) -> None:
    """Let an agent receive a line and the end of the connection."""
    client_end, agent_end = await open_transport_pair()
    serving = asyncio.create_task(agent.serve(agent_end, Options(), lambda _: agent_end.close()))
    await client_end.send(line + b"\n")
    await client_end.close()
    await serving


@pytest.mark.parametrize("line", [b"loading...", b"[" * 100_000], ids=["text", "deep"])
async def test_a_line_that_is_not_json_is_a_problem(line: bytes, recorded: Path) -> None:
    agent = await record(recorded, "a")
    await receive(agent, line)
    assert agent.problems == [f"The client has sent a line that isn't JSON: {line[:60]!r}"]


async def test_a_line_in_many_pieces_is_read_in_linear_time(recorded: Path) -> None:
    class Pieces:
        left = 16 * 1024

        async def receive(self) -> bytes:
            await asyncio.sleep(0)
            self.left -= 1
            return b"x" * 512 if self.left > 0 else b"\n" * (self.left == 0)

        async def send(self, data: bytes, /) -> None:
            raise NotImplementedError

        async def close(self) -> None: ...

    agent = await record(recorded, "a")
    async with asyncio.timeout(5):  # in quadratic time, it takes 70 GB of copies
        await agent.serve(Pieces(), Options(), asyncio.sleep)
    assert len(agent.problems) == 1


async def test_deeply_nested_params_are_compared(recorded: Path) -> None:
    agent = await record(recorded, "a")
    params = b'{"cwd":"/work","a":' + b"[" * 500 + b"]" * 500 + b"}"
    await receive(agent, b'{"jsonrpc":"2.0","id":0,"method":"session/new","params":%b}' % params)
    assert agent.where == "the client has left, and the recording waits for initialize (line 1)"


async def test_an_id_that_is_nested_too_deeply_is_a_problem(recorded: Path) -> None:
    agent = await record(recorded, "a")
    for depth in (*range(900, 1000), 200_000):  # some can be parsed, but not compared
        line = b'{"id":%b,"method":"initialize","params":{"protocolVersion":1}}' % (b"[" * depth + b"]" * depth)
        await receive(agent, line)
    assert agent.problems[-1].startswith("The client has sent a line that")


async def test_texts_of_a_peer_are_escaped_in_what_a_replay_says(tmp_path: Path) -> None:
    file = tmp_path / "acp.jsonl"
    messages = [
        {"id": 0, "method": "initialize", "params": {"protocolVersion": 1}},
        {"id": 1, "method": "_\ud83d\x1b[31m"},
    ]
    file.write_text("".join(f"{json.dumps({'direction': 'c2a', 'message': message})}\n" for message in messages))
    agent = Replay(file)
    await receive(agent, b'{"id":1,"method":"_\\ud83d\\u001b[31m","params":{"\\u001b":1}}')
    problem = r"The nearest in the recording is _\ud83d\x1b[31m (line 2): \x1b is 1, recorded is None"
    assert agent.problems == [problem] == [agent.where]
    with pytest.raises(AssertionError) as caught:
        agent.assert_done()
    missing = r"The client has not sent: initialize (line 1), _\ud83d\x1b[31m (line 2)."
    assert str(caught.value) == f"The replay isn't done: {problem}. {missing}"


@pytest.mark.slow
async def test_the_command_plays_a_recording(recorded: Path) -> None:
    await record(recorded, "Hello")
    (file,) = recorded.iterdir()
    async with connect([sys.executable, "-m", "acp_kit", "replay", str(file)], make_client()) as session:
        assert await session.ask("1") == "Hello"
        with pytest.raises(RemoteError, match="The nearest in the recording"):
            await session.ask("2")
    assert session.agent.process is not None
    assert "at the end, The nearest in the recording" in session.agent.process.stderr_tail


@asynccontextmanager
async def replaying(agent: Replay) -> AsyncGenerator[tuple[Callable[[Any], None], Callable[[], Awaitable[Any]]]]:
    """Play to a client that sends messages as they are; yield how it sends and receives."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours, limit=2**26)

    async def receive() -> Any:
        return json.loads(await reader.readline())

    transport = StreamTransport(*await asyncio.open_connection(sock=theirs))
    serving = asyncio.create_task(agent.serve(transport, Options(), lambda _: transport.close()))
    yield lambda message: writer.write(json.dumps(message).encode() + b"\n"), receive
    writer.close()
    await serving


async def test_names_of_the_client_are_replaced_where_they_stand_alone(tmp_path: Path) -> None:
    def opening(id: int, cwd: str, **more: Any) -> Any:
        return {"id": id, "method": "session/new", "params": {"cwd": cwd, "mcpServers": [], **more}}

    names = {"/work": "/tmp/x y", "/work/sub": "/other", "C:\\work": "D:\\1\\g<0>", "/a": "/b", "/b": "/a", "/": "/tmp"}
    texts = {
        "/work": "/tmp/x y",
        "see\n/work/a.txt, /work": "see\n/tmp/x y/a.txt, /tmp/x y",
        "file:///work/a /work/sub/b": "file:///tmp/x y/a /other/b",
        "/workspace /work.txt /home/work a/work é/work": "/workspace /work.txt /home/work a/work é/work",
        "C:\\work C:\\new": "D:\\1\\g<0> C:\\new",
        "/a /b /": "/b /a /",
    }
    theirs = [{"direction": "c2a", "message": opening(id, cwd)} for id, cwd in enumerate(names)]
    update = {"method": "session/update", "params": [*texts]}
    file = tmp_path / "recording.jsonl"
    file.write_text("\n".join(map(json.dumps, [*theirs, {"direction": "a2c", "message": update}])))
    async with replaying(Replay(file)) as (send, receive):
        for id, cwd in enumerate(names.values()):
            send(opening(id, cwd, _meta={"a": 1}, additionalDirectories=None))
        assert (await receive())["params"] == [*texts.values()]


async def test_recorded_traffic_of_real_agents_is_played_to_its_end() -> None:
    """The client's ids differ from the recorded ones, and the agent's from both."""
    folder = os.environ.get("ACP_RECORDINGS")
    if folder is None:
        pytest.skip("ACP_RECORDINGS names no folder with recorded traffic.")
    for file in sorted(Path(folder).glob("*.jsonl")):
        agent, ids = Replay(file), dict[str, Any]()
        async with replaying(agent) as (send, receive):
            for entry in read_recording(file):
                message, asked = entry.message, f"{entry.direction} {(entry.message or {}).get('id')}"
                if entry.direction == "a2c" and message and not message.get("method", "").startswith("$/"):
                    received = await receive()
                    ids[asked] = received.get("id")
                    assert {**received, "id": 0} == {**message, "id": 0}, f"{file}, line {entry.number}"
                elif entry.direction == "c2a" and "method" in (message or {}):
                    send({**message, "id": f"own {message['id']}"} if "id" in message else message)
                elif entry.direction == "c2a" and (id := ids.get(f"a2c {message['id']}")) is not None:
                    send({**message, "id": id})
        agent.assert_done()
