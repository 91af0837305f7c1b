"""opencode and Gemini CLI behind `acp-bindings bridge`, with clients of version 2."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v2_draft as v2
from tests.interop.real_agents import EDITED, GEMINI_CLI, OPENCODE, RealAgent, prepared
from tests.interop.sdks import TYPESCRIPT, connected
from tests.support.kit.behind_v2 import INITIALIZE, names
from tests.support.kit.gateway import bridge, end_by
from tests.support.marked_processes import alive, wait_until_left
from tests.support.programs import Program

pytestmark = [pytest.mark.xdist_group("SDKs"), pytest.mark.slow]

AGENTS = pytest.mark.parametrize("agent", [OPENCODE, GEMINI_CLI], ids=lambda agent: agent.name)
BRIDGE = [sys.executable, "-m", "acp_kit", "bridge", "--"]


def answers(agent: RealAgent, folder: Path) -> list[Any]:
    """Return the model's answers in a turn that edits the file."""
    return [[agent.edit(str(folder / "work" / EDITED))], "It is done."]


def check(folder: Path, updates: list[Any]) -> None:
    """Check the updates of such a turn."""
    kinds = [name for name in names(updates) if name not in ("available_commands_update", "usage_update")]
    assert (kinds[:2], kinds[-1]) == (["user_message", "running"], "idle end_turn")
    assert [name for name in kinds if name in ("requires_action", "running")][1:] == ["requires_action", "running"]
    calls = [update for update in updates if update["sessionUpdate"] == "tool_call_update"]
    assert {call["toolCallId"] for call in calls} == {calls[0]["toolCallId"]}
    assert calls[-1]["status"] == "completed"
    (change,) = [item["changes"][0] for item in calls[-1]["content"] if item["type"] == "diff"]
    path = str(folder / "work" / EDITED)
    assert (change["operation"], change["path"]) == ("modify", path)
    texts = [update["content"]["text"] for update in updates if update["sessionUpdate"] == "agent_message_chunk"]
    assert "".join(texts) == "It is done."
    assert Path(path).read_text("utf-8") == "new\n"


@AGENTS
async def test_the_client_of_the_typescript_sdk_lets_a_file_be_edited(agent: RealAgent, tmp_path: Path) -> None:
    async with (
        prepared(agent, tmp_path, *answers(agent, tmp_path)) as (_, command),
        connected(TYPESCRIPT, [*BRIDGE, *command], "2") as client,
    ):
        outcome = {"outcome": "selected", "optionId": agent.allowed}
        await client.set_responses({"session/request_permission": {"result": {"outcome": outcome}}})
        assert (await client.call("initialize", INITIALIZE))["info"]["name"] == agent.name
        session = await client.call("session/new", {"cwd": str(tmp_path / "work"), "mcpServers": []})
        await client.prompt("Edit the file", session=session["sessionId"])
        while not any(update.get("state") == "idle" for update in client.updates()):
            client.changed.clear()
            await client.changed.wait()
        check(tmp_path, client.updates())


class Client(v2.Client):
    """A client that permits everything.

    Attributes:
        allowed: the id of the option.
    """

    allowed: str

    def __init__(self, agent: v2.RemoteAgent) -> None:
        self.updates: list[Any] = []
        self.is_idle = asyncio.Event()

    async def session_update(self, notification: v2.UpdateSessionNotification) -> None:
        self.updates.append(notification.model_dump()["update"])
        if self.updates[-1].get("state") == "idle":
            self.is_idle.set()

    async def session_request_permission(self, request: v2.RequestPermissionRequest) -> v2.RequestPermissionResponse:
        return v2.RequestPermissionResponse(outcome=v2.RequestPermissionOutcomeSelected(option_id=self.allowed))


@AGENTS
async def test_our_client_lets_a_file_be_edited(agent: RealAgent, tmp_path: Path) -> None:
    client = type("Permitting", (Client,), {"allowed": agent.allowed})
    async with (
        prepared(agent, tmp_path, *answers(agent, tmp_path)) as (_, command),
        v2.spawn_agent(client, *BRIDGE, *command) as remote,
    ):
        await remote.initialize(protocol_version=2, info=v2.Implementation(name="ours", version="1"))
        session = await remote.session_new(cwd=str(tmp_path / "work"))
        prompt = [v2.ContentBlockText(text="Edit the file")]
        await remote.session_prompt(session_id=session.session_id, prompt=prompt)
        assert isinstance(remote.handler, Client)
        async with asyncio.timeout(60):
            await remote.handler.is_idle.wait()
        check(tmp_path, remote.handler.updates)


def begin_waiting(started: Program, folder: Path) -> None:
    """Send a prompt, and wait for the beginning of the answer."""
    assert started.call("initialize", INITIALIZE)["result"]
    session = started.call("session/new", {"cwd": str(folder / "work")})["result"]["sessionId"]
    prompt = [{"type": "text", "text": "hi"}]
    started.send({"id": 2, "method": "session/prompt", "params": {"sessionId": session, "prompt": prompt}})
    while started.receive().get("params", {}).get("update", {}).get("sessionUpdate") != "agent_message_chunk":
        pass


@AGENTS
@pytest.mark.parametrize("end", ["EOF", "SIGTERM", "SIGINT", "SIGKILL"])
async def test_nothing_is_left_however_it_ends_during_a_turn(agent: RealAgent, end: str, tmp_path: Path) -> None:
    async with prepared(agent, tmp_path, "Let me think") as (model, command):
        model.may_end.clear()
        with bridge(*command) as (started, marker):
            await asyncio.to_thread(begin_waiting, started, tmp_path)
            assert len(alive(marker)) >= 2
            end_by(end, started)
            code = await asyncio.to_thread(started.wait, 20)
            assert code == (-signal.SIGKILL if end == "SIGKILL" else 0)
            assert await asyncio.to_thread(wait_until_left, marker) == set()
