"""The client of a recording is played to another agent, and differences in the agent's messages are explained."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1, v2_draft
from acp_kit.__main__ import main
from acp_kit.agent import Turn
from acp_kit.client import open_session
from acp_kit.testing import Replay, ScriptedAgent, ScriptedClient, connect, replay_client, wait
from acp_kit.testing.connecting import RECORD, open_transport_pair
from acp_kit.versions import as_v2
from acp_runtime import Options, RequestError
from tests.support.event_loop import let_others_run, let_pass
from tests.support.kit.behind_v2 import AgentV1


async def edit(turn: Turn) -> None:
    async with turn.tool_call("Edit a.txt", kind="edit") as call:
        await call.ask()
        await turn.write_text_file("a.txt", await turn.read_text_file("a.txt") + "y")
    await turn.say("Rejected" if call.rejected else str(turn.session.cwd))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(RECORD, str(tmp_path))
    return tmp_path


async def record(folder: Path, *script: Any, connections: int = 1) -> Path:
    """Record a client that sends one prompt for each step, and return the file."""
    file = folder / "recording.jsonl"
    for _ in range(connections):
        client = ScriptedClient(permissions=["allow_once"], files={"a.txt": "x"})
        async with connect(ScriptedAgent(*script), client) as session:
            for number in range(len(script)):
                with suppress(RequestError):
                    await session.ask(str(number))
        with file.open("a") as recording:
            recording.writelines(path.read_text() for path in folder.glob("test*.jsonl"))
        for path in folder.glob("test*.jsonl"):
            path.unlink()
    return file


async def test_the_agent_gets_the_messages_of_the_recorded_client(folder: Path) -> None:
    agent = ScriptedAgent(edit, "other words")
    await replay_client(await record(folder, edit, ["two", "updates"]), agent, cwd="/elsewhere")
    assert [request.prompt[0] for request in agent.prompts] == [v1.ContentBlockText(text=text) for text in "01"]
    assert agent.requests[1].cwd == "/elsewhere"
    agent.assert_done()


async def test_each_initialize_of_a_recording_is_another_connection(folder: Path) -> None:
    agent = ScriptedAgent("a", "b")
    await replay_client(await record(folder, "a", connections=2), agent)
    assert sum(isinstance(request, v1.InitializeRequest) for request in agent.requests) == 2
    agent.assert_done()


async def ask_for_more(turn: Turn) -> None:
    await turn.session.client.fs_read_text_file(session_id=turn.session.id, path="/work/b.txt")


async def stop(turn: Turn) -> None:
    turn.stop_reason = "refusal"


@pytest.mark.parametrize(
    ("agent", "problems"),
    [
        (
            ScriptedAgent("nothing", "b"),
            [
                "The agent has not sent session/request_permission (line 7)",
                "The agent has not sent fs/read_text_file (line 10)",
                "The agent has not sent fs/write_text_file (line 12)",
            ],
        ),
        (
            ScriptedAgent([ask_for_more, edit], "b"),
            ["nearest in the recording is fs/read_text_file (line 10): path is '/work/b.txt', recorded is '/work/a"],
        ),
        (
            ScriptedAgent(edit, stop),
            ["answer to session/prompt (line 19): result.stopReason is 'refusal', recorded is 'end_turn'"],
        ),
        (
            ScriptedAgent(edit, RequestError(429, "quota")),
            ["answer to session/prompt (line 19): is an error is True, recorded is False", "('quota')"],
        ),
        (
            ScriptedAgent(initialize=RequestError(1, "not today")),
            ["the answer to initialize (line 2): is an error is True", "The agent has not sent: the answer to init"],
        ),
    ],
)
async def test_what_the_agent_does_otherwise_is_explained(
    agent: ScriptedAgent, problems: list[str], folder: Path
) -> None:
    with pytest.raises(AssertionError) as caught:
        await replay_client(await record(folder, edit, "b"), agent)
    for problem in problems:
        assert problem in str(caught.value)


async def test_a_request_is_refused_if_the_recorded_agent_has_sent_none(folder: Path) -> None:
    problem = "The agent has sent session/request_permission, but the recording has no request of the agent"
    with pytest.raises(AssertionError, match=problem):
        await replay_client(await record(folder, "a"), ScriptedAgent(edit))


@pytest.mark.parametrize("lines", [0, 1])
async def test_a_recording_without_a_message_of_a_client_is_refused(lines: int, folder: Path) -> None:
    file = folder / "recording.jsonl"
    file.write_text('{"time": 0, "direction": "a2c", "message": {"jsonrpc": "2.0", "method": "_a"}}\n' * lines)
    with pytest.raises(ValueError, match="has no message of a client"):
        await replay_client(file, ScriptedAgent("a"))
    with pytest.raises(ValueError, match="has no message of a client"):
        Replay(file)


async def test_a_cancellation_waits_for_an_update(folder: Path) -> None:
    async with connect(ScriptedAgent(["a", wait]), ScriptedClient()) as session, session.prompt("1") as turn:
        async for _ in turn:
            break
    (file,) = folder.glob("test*.jsonl")
    agent = ScriptedAgent(["else", wait])
    await replay_client(file, agent)
    agent.assert_done()


async def test_an_agent_that_does_nothing_fails_at_the_deadline(folder: Path) -> None:
    async def hang(turn: Turn) -> None:
        let_pass(60)
        await asyncio.Event().wait()

    file = await record(folder, "a")
    waits = r"seconds: the recording waits for the answer to session/prompt \(line 7\)"
    with pytest.raises(TimeoutError, match=waits):
        await replay_client(file, ScriptedAgent(hang), deadline=60)


async def test_an_agent_that_ends_early_is_not_done(folder: Path) -> None:
    program = [sys.executable, "-c", 'input(); print(\'{"id":0,"result":{"protocolVersion":1}}\', flush=True)']
    with pytest.raises(AssertionError, match=r"the agent has left, and the recording .* session/new"):
        await replay_client(await record(folder, "a"), program, deadline=60)


async def test_sessions_have_the_ids_of_the_agent(folder: Path) -> None:
    agent = ScriptedAgent("a", "b")
    async with connect(agent, ScriptedClient()) as session, open_session(session.agent, cwd="/work") as other:
        await other.ask("1")
        await session.ask("2")
    (file,) = folder.glob("test*.jsonl")
    agent = ScriptedAgent("a", "b")
    await replay_client(file, agent)
    one, two = agent.prompts
    assert one.session_id != two.session_id
    assert one.session_id not in file.read_text()


AGENT_WITH_A_STRANGE_SESSION = """
import json

for message in (
    {"id": 0, "result": {"sessionId": {"b": 2}}},
    {"method": "_a", "params": {"sessionId": {"b": 2}}},
    {"id": 2, "result": {"stopReason": "end_turn"}},
):
    input()
    print(json.dumps(message), flush=True)
"""


@pytest.mark.parametrize("recorded", ["a", {"a": 1}])
async def test_an_id_of_a_session_may_be_any_json(recorded: Any, tmp_path: Path) -> None:
    file = tmp_path / "acp.jsonl"
    params = {"sessionId": recorded}
    messages = [
        {"direction": "c2a", "message": {"id": 0, "method": "session/new", "params": {}}},
        {"direction": "a2c", "message": {"id": 0, "result": params}},
        {"direction": "c2a", "message": {"id": 1, "method": "session/prompt", "params": params}},
        {"direction": "a2c", "message": {"method": "_a", "params": params}},
        {"direction": "c2a", "message": {"method": "session/cancel", "params": params}},
        {"direction": "a2c", "message": {"id": 1, "result": {"stopReason": "end_turn"}}},
    ]
    file.write_text("".join(f"{json.dumps(message)}\n" for message in messages))
    await replay_client(file, [sys.executable, "-c", AGENT_WITH_A_STRANGE_SESSION], deadline=60)


def test_the_command_plays_the_client(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = asyncio.run(record(folder, "a"))
    script = folder / "script.py"
    script.write_text("from acp_kit.testing import ScriptedAgent\nagent = ScriptedAgent('a')")
    agent = [sys.executable, "-m", "acp_kit", "agent", str(script)]
    assert main(["replay-client", str(file), "--", *agent]) == 0
    assert "The agent has done what the recorded one did" in capsys.readouterr().err
    script.write_text("from acp_kit.testing import ScriptedAgent\nagent = ScriptedAgent()")
    assert main(["replay-client", str(file), "--", *agent]) == 1
    assert "is an error is True" in capsys.readouterr().err
    assert main(["replay-client", str(script), "--", *agent]) == 2
    assert main(["replay-client", str(file), "--", "no-such-agent"]) == 2
    assert "Can't start 'no-such-agent'" in capsys.readouterr().err


# Version 2

INFO = {"name": "editor", "version": "1"}
UPDATES = [
    {"sessionUpdate": "state_update", "state": "running"},
    {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "hi"}},
    {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"},
]


def turn_of(number: int) -> list[tuple[str, Any]]:
    prompt = [{"type": "text", "text": f"prompt {number}"}]
    updates = [{"method": "session/update", "params": {"sessionId": "s", "update": update}} for update in UPDATES]
    return [
        ("c2a", {"id": number, "method": "session/prompt", "params": {"sessionId": "s", "prompt": prompt}}),
        ("a2c", {"id": number, "result": {"messageId": f"m{number}"}}),
        *(("a2c", update) for update in updates),
    ]


@pytest.fixture
def version_2(tmp_path: Path) -> Path:
    lines: list[tuple[str, Any]] = [
        ("c2a", {"id": 0, "method": "initialize", "params": {"protocolVersion": 2, "info": INFO, "capabilities": {}}}),
        ("a2c", {"id": 0, "result": {"protocolVersion": 2, "info": INFO, "capabilities": {"session": {}}}}),
        ("c2a", [{"id": 1, "method": "session/new", "params": {"cwd": "/work"}}]),  # an array of one
        ("a2c", [{"id": 1, "result": {"sessionId": "s"}}]),
        *turn_of(2),
        *turn_of(3),
    ]
    file = tmp_path / "version_2.jsonl"
    file.write_text("\n".join(json.dumps({"direction": side, "message": message}) for side, message in lines))
    return file


async def test_in_version_2_a_prompt_waits_for_the_end_of_the_turn_before(version_2: Path) -> None:
    events: list[str] = []

    class Agent(AgentV1):
        async def work(self, session: str) -> None:
            events.append("begin")
            await self.send(session, v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text="a")))
            await let_others_run(20)
            events.append("end")

    await replay_client(version_2, as_v2(Agent), profile=v2_draft)
    assert events == ["begin", "end"] * 2


async def test_a_recorded_agent_of_version_2_is_played_to_a_client_of_version_2(version_2: Path) -> None:
    states: asyncio.Queue[str] = asyncio.Queue()

    class Client(v2_draft.Client):
        async def session_update(self, notification: Any) -> None:
            states.put_nowait(getattr(notification.update, "state", "text"))

        async def session_request_permission(self, request: Any) -> Any:
            raise NotImplementedError

    agent = Replay(version_2)
    client_end, agent_end = await open_transport_pair()
    serving = asyncio.create_task(agent.serve(agent_end, Options(), lambda _: agent_end.close()))
    async with v2_draft.connect(lambda _: Client(), client_end) as remote:
        await remote.initialize(protocol_version=2, info=v2_draft.Implementation(name="other", version="2"))
        session = await remote.session_new(cwd="/elsewhere")
        for number in (2, 3):
            prompt = [v2_draft.ContentBlockText(text=f"prompt {number}")]
            await remote.session_prompt(session_id=session.session_id, prompt=prompt)
            assert [await states.get() for _ in range(3)] == ["running", "text", "idle"]
    await serving
    agent.assert_done()
