"""The model agent says clearly what went wrong, and the conversation can continue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import SessionUpdateToolCall
from acp_kit.client import open_session
from acp_kit.history import SqlHistory
from acp_runtime import RemoteError
from tests.support.kit.model_agents import prompt, results, running
from tests.support.kit.model_server import model_server

pytestmark = pytest.mark.xdist_group("packages")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


@pytest.mark.parametrize("status", [200, 401, 429, 500])
async def test_an_endpoint_that_fails_is_named_and_the_conversation_continues(project: Path, status: int) -> None:
    async with (
        model_server(status, "Again.") as model,
        running(model, project) as (agent, _),
        open_session(agent, cwd=project) as session,
    ):
        with pytest.raises(RemoteError, match="The model did not answer: ") as raised:
            await prompt(session, "first")
        assert ("out of order" in str(raised.value)) == (status != 200)
        assert await prompt(session, "second") == "end_turn"
        texts = [message["content"] for message in model.requests[-1]["messages"][1:]]
        assert texts == ["first", "second"]


async def test_arguments_of_a_wrong_form_are_told_to_the_model(project: Path) -> None:
    calls: Any = [
        ("read_file", "[1]"),
        ("read_file", "{"),
        ("read_file", {"path": 1}),
        ("plan", {"entries": ["x"]}),
        ("no_such_tool", {}),
    ]
    async with (
        model_server(calls, "I see.") as model,
        running(model, project) as (agent, editor),
        open_session(agent, cwd=project) as session,
    ):
        editor.choices = ["allow_once"]
        assert await prompt(session, "go") == "end_turn"
        told = results(model.requests[1])
        assert [text.split(":")[0] for text in told] == ["Error"] * 5
        assert told[0] == "Error: the arguments are not a JSON object"


async def test_a_tool_call_that_a_crash_interrupted_is_told_to_the_model(project: Path) -> None:
    async with SqlHistory(project.parent / "history.db") as history:
        await history.create("s", cwd=str(project))
        update = SessionUpdateToolCall(tool_call_id="a", title="run", name="run", raw_input={"command": "x"})
        await history.append("s", update)
    async with (
        model_server("I see.") as model,
        running(model, project) as (agent, _),
        open_session(agent, cwd=project, load="s") as session,
    ):
        await prompt(session, "go on")
        assert results(model.requests[0]) == ["This did not finish."]
        (call,) = [call for message in model.requests[0]["messages"] for call in message.get("tool_calls") or []]
        assert json.loads(call["function"]["arguments"]) == {"command": "x"}
