"""The coding agent of the tutorial answers a model that calls its tools wrongly, instead of failing."""

from __future__ import annotations

import sys
from pathlib import Path

from acp_bindings.v1 import spawn_agent
from acp_kit.client import open_session
from tests.support.docs.files import steps
from tests.support.kit.turns import Viewer
from tools.paths import ROOT

PAGE = ROOT / "docs/learn/tutorial/6-coding-agent.md"
MODEL = """
CALLS = [("delete", "{}"), ("run", '{"command": '), ("run", "{}"), ("run", '{"command": "true", "cwd": "/"}')]


async def answer(messages):
    results = [message["content"] for message in messages if message["role"] == "tool"]
    if len(results) == len(CALLS):
        return {"content": "\\n".join(results)}
    name, arguments = CALLS[len(results)]
    return {"tool_calls": [{"id": "call-1", "function": {"name": name, "arguments": arguments}}]}
"""


async def test_bad_calls_of_a_model_are_failed_tool_calls_that_the_model_reads(tmp_path: Path) -> None:
    written = {str(step.current): step.block.text for step in steps(PAGE) if step.block.language == "python"}
    for name, text in {**written, "model.py": MODEL}.items():
        (tmp_path / name).write_text(text, "utf-8")
    async with spawn_agent(Viewer, sys.executable, "agent.py", cwd=tmp_path) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd=tmp_path) as session:
            answers = (await session.ask("go")).splitlines()
            calls = session.state.tool_calls.values()
    assert [call.status for call in calls] == ["failed"] * 4
    for text, expected in zip(
        answers,
        ("no tool 'delete'. The tools are write_file, run", "must be a JSON object", "'command'", "'cwd'"),
        strict=True,
    ):
        assert expected in text
