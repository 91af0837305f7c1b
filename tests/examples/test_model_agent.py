"""The model agent works with tools, permission, a plan, MCP servers, modes and commands, and survives a restart."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import McpServerStdio, SessionUpdateToolCall, ToolCallContentDiff
from acp_kit.client import open_session
from acp_kit.history import SqlHistory
from acp_runtime import RemoteError
from tests.examples.model_agents import in_its_own_process, prompt, results, running
from tests.support.kit import mcp_server
from tests.support.kit.model_server import ModelServer, model_server

# The group shares the imports of openai, mcp and sqlalchemy.
pytestmark = pytest.mark.xdist_group("packages")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.txt").write_text("one\ntwo\n", "utf-8")
    return folder


async def test_the_model_reads_plans_writes_and_runs(folder: Path) -> None:
    entries = [{"content": "copy the notes", "status": "in_progress"}]
    async with (
        model_server(
            [("read_file", {"path": "notes.txt"}), ("plan", {"entries": entries})],
            [("write_file", {"path": "copy.txt", "content": "one\ntwo\n"}), ("run", {"command": "wc -l copy.txt"})],
            "All done.",
        ) as model,
        running(model, folder) as (agent, editor),
        open_session(agent, cwd=folder) as session,
    ):
        editor.choices = ["allow_once", "allow_once"]
        assert await prompt(session, "copy the notes") == "end_turn"
        assert (folder / "copy.txt").read_text("utf-8") == "one\ntwo\n"
        assert session.state.text == "All done."
        assert [call.status for call in session.state.tool_calls.values()] == ["completed"] * 3
        assert [entry.content for entry in session.state.plan] == ["copy the notes"]
        tool_calls = [request.tool_call for request in editor.asked]
        assert [call.title for call in tool_calls] == ["write_file copy.txt", "run wc -l copy.txt"]
        diff = ToolCallContentDiff(path=str(folder / "copy.txt"), old_text=None, new_text="one\ntwo\n")
        assert [call.content or [] for call in tool_calls] == [[diff], []]
        assert [command.name for command in session.state.available_commands] == ["clear"]
    first, second = results(model.requests[2])[:2], results(model.requests[2])[2:]
    assert first == ["one\ntwo\n", "The user sees the plan."]
    assert second[0] == "Written."
    assert second[1].split() == ["2", "copy.txt", "[exit", "code", "0,", "signal", "None,", "timed", "out:", "False]"]


async def test_the_model_sees_that_a_tool_was_rejected_and_always_is_remembered(folder: Path) -> None:
    write = [("write_file", {"path": "a.txt", "content": "x"})]
    async with (
        model_server(write, write, write, "Fine.") as model,
        running(model, folder) as (agent, editor),
        open_session(agent, cwd=folder) as session,
    ):
        editor.choices = ["reject_once", "allow_always"]
        await prompt(session, "write")
        assert results(model.requests[3]) == ["The user rejected this.", "Written.", "Written."]
        assert len(editor.asked) == 2


async def test_in_the_mode_auto_the_user_is_not_asked(folder: Path) -> None:
    async with (
        model_server([("write_file", {"path": "a.txt", "content": "x"})], "Fine.") as model,
        running(model, folder) as (agent, editor),
        open_session(agent, cwd=folder) as session,
    ):
        assert session.state.current_mode_id == "ask"
        await session.set_mode("auto")
        await session.set_config_option("model", "large")
        await prompt(session, "write")
        assert editor.asked == []
        assert model.requests[0]["model"] == "large"


async def test_tools_of_the_clients_mcp_servers_are_the_models(folder: Path) -> None:
    server = McpServerStdio(name="db", command=sys.executable, args=[mcp_server.__file__], env=[])
    async with (
        model_server([("mcp__db__echo", {"text": "hi"})], "Fine.") as model,
        running(model, folder) as (agent, editor),
        open_session(agent, cwd=folder, mcp_servers=[server]) as session,
    ):
        editor.choices = ["allow_once"]
        await prompt(session, "echo")
        assert "mcp__db__echo" in [tool["function"]["name"] for tool in model.requests[0]["tools"]]
        assert results(model.requests[1]) == ["hi"]


async def test_a_cancelled_turn_leaves_a_conversation_that_can_continue(folder: Path) -> None:
    async with (
        model_server("Wait a minute", [("run", {"command": "sleep 60"})], "Stopped.") as model,
        running(model, folder) as (agent, editor),
        open_session(agent, cwd=folder) as session,
    ):
        model.may_end.clear()
        async with session.prompt("first") as turn:
            async for update in turn:
                if update.session_update == "agent_message_chunk":
                    break
        assert turn.stop_reason == "cancelled"
        model.may_end.set()
        editor.choices = ["allow_once"]
        async with session.prompt("second") as turn:
            async for update in turn:
                if update.session_update == "tool_call_update" and update.status == "in_progress" and update.content:
                    break
        assert turn.stop_reason == "cancelled"
        assert await prompt(session, "third") == "end_turn"
        called = {call["id"] for message in model.requests[-1]["messages"] for call in message.get("tool_calls") or []}
        answered = {message.get("tool_call_id") for message in model.requests[-1]["messages"]} - {None}
        assert called == answered


@pytest.mark.test_all
async def test_a_session_survives_a_restart(folder: Path) -> None:
    async with (
        model_server([("read_file", {"path": "notes.txt"})], "Two lines.") as model,
        in_its_own_process(model, folder) as agent,
        open_session(agent, cwd=folder) as session,
    ):
        await session.set_mode("auto")
        await prompt(session, "how many?")
        shown = [getattr(entry, "text", None) or getattr(entry, "title", None) for entry in session.state.timeline]
    # After the restart it runs in this process, which has imported openai.
    async with model_server("Still two.") as model, running(model, folder) as (agent, _):
        listed = await agent.session_list(cwd=str(folder))
        assert [session.session_id for session in listed.sessions] == [session.id]
        async with open_session(agent, cwd=folder, load=session.id) as loaded:
            again = [getattr(entry, "text", None) or getattr(entry, "title", None) for entry in loaded.state.timeline]
            assert again == shown == ["how many?", "read_file notes.txt", "Two lines."]
            assert loaded.state.current_mode_id == "auto"
            await prompt(loaded, "and now?")
    roles = [message["role"] for message in model.requests[0]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert results(model.requests[0]) == ["one\ntwo\n"]


class ConstantId(ModelServer):
    """Gives each tool call the same id."""

    def tool_call_id(self, index: int) -> str:
        return "call_0"


class CounterOfAPrompt(ModelServer):
    """Counts from 1 after each prompt of the user."""

    def tool_call_id(self, index: int) -> str:
        messages = self.requests[-1]["messages"]
        last = max(number for number, message in enumerate(messages) if message["role"] == "user")
        return f"call_{sum(message['role'] == 'tool' for message in messages[last:]) + index + 1}"


@pytest.mark.parametrize("speaking", [ConstantId, CounterOfAPrompt])
async def test_ids_that_the_model_uses_again_mix_up_nothing(folder: Path, speaking: type[ModelServer]) -> None:
    (folder / "more.txt").write_text("three\n", "utf-8")
    both = [("read_file", {"path": "notes.txt"}), ("read_file", {"path": "more.txt"})]
    async with (
        model_server(both, both, "Read.", both, "Again.", both, "And again.", speaking=speaking) as model,
        running(model, folder) as (agent, _),
    ):
        async with open_session(agent, cwd=folder) as session:
            for text in ("read both, twice", "again"):
                assert await prompt(session, text) == "end_turn"
            assert len(session.state.tool_calls) == 6
        async with open_session(agent, cwd=folder, load=session.id) as session:
            assert await prompt(session, "and again") == "end_turn"
            assert len(session.state.tool_calls) == 8
    for request in model.requests:
        wanted = [call["id"] for message in request["messages"] for call in message.get("tool_calls", ())]
        answered = [message["tool_call_id"] for message in request["messages"] if message["role"] == "tool"]
        assert wanted == answered
        assert len({*wanted}) == len(wanted)
    assert results(model.requests[-1]) == ["one\ntwo\n", "three\n"] * 4


# What goes wrong is said clearly, and the conversation can continue.


@pytest.mark.parametrize("status", [200, 401, 429, 500])
async def test_an_endpoint_that_fails_is_named_and_the_conversation_continues(folder: Path, status: int) -> None:
    async with (
        model_server(status, "Again.") as model,
        running(model, folder) as (agent, _),
        open_session(agent, cwd=folder) as session,
    ):
        with pytest.raises(RemoteError, match="The model did not answer: ") as raised:
            await prompt(session, "first")
        assert ("out of order" in str(raised.value)) == (status != 200)
        assert await prompt(session, "second") == "end_turn"
        texts = [message["content"] for message in model.requests[-1]["messages"][1:]]
        assert texts == ["first", "second"]


async def test_the_model_sees_that_arguments_have_a_wrong_form(folder: Path) -> None:
    calls: Any = [
        ("read_file", "[1]"),
        ("read_file", "{"),
        ("read_file", {"path": 1}),
        ("plan", {"entries": ["x"]}),
        ("no_such_tool", {}),
    ]
    async with (
        model_server(calls, "I see.") as model,
        running(model, folder) as (agent, editor),
        open_session(agent, cwd=folder) as session,
    ):
        editor.choices = ["allow_once"]
        assert await prompt(session, "go") == "end_turn"
        shown_results = results(model.requests[1])
        assert [text.split(":")[0] for text in shown_results] == ["Error"] * 5
        assert shown_results[0] == "Error: the arguments are not a JSON object"


async def test_the_model_sees_that_a_crash_interrupted_a_tool_call(folder: Path) -> None:
    async with SqlHistory(folder.parent / "history.db") as history:
        await history.create("s", cwd=str(folder))
        update = SessionUpdateToolCall(tool_call_id="a", title="run", name="run", raw_input={"command": "x"})
        await history.append("s", update)
    async with (
        model_server("I see.") as model,
        running(model, folder) as (agent, _),
        open_session(agent, cwd=folder, load="s") as session,
    ):
        await prompt(session, "go on")
        assert results(model.requests[0]) == ["This did not finish."]
        (call,) = [call for message in model.requests[0]["messages"] for call in message.get("tool_calls") or []]
        assert json.loads(call["function"]["arguments"]) == {"command": "x"}
