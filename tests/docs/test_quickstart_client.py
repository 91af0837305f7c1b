"""The client of the quickstart shows the title of each tool call that a recorded agent asks permission for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import open_session
from tests.support.docs.files import steps
from tools.paths import ROOT

PAGE = ROOT / "docs/learn/quickstart-client.md"
FOLDER = os.environ.get("ACP_RECORDINGS")
FILES = sorted(Path(FOLDER).glob("*.jsonl")) if FOLDER else []


class RecordedAgent(v1.Agent):
    """Sends the updates and the permission requests of a recording."""

    def __init__(self, client: v1.RemoteClient, messages: list[Any]) -> None:
        self.client = client
        self.messages = messages

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id="s")

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        for message in self.messages:
            params = {**message["params"], "sessionId": "s"}
            if message["method"] == "session/update":
                await self.client.notify(v1.SessionNotification.model_validate(params))
            else:
                await self.client.request(v1.RequestPermissionRequest.model_validate(params))
        return v1.PromptResponse(stop_reason="end_turn")


@pytest.mark.skipif(not FILES, reason="ACP_RECORDINGS names no folder with recorded traffic")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_the_title_of_each_recorded_request_is_shown(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    messages, titles, asked = [], dict[str, str](), list[str]()
    for line in file.read_text("utf-8").splitlines():
        message = json.loads(line)["msg"]
        if message.get("method") in ("session/update", "session/request_permission"):
            messages.append(message)
            call = message["params"].get("update") or message["params"]["toolCall"]
            if call.get("toolCallId") and call.get("title"):
                titles[call["toolCallId"]] = call["title"]
            if "toolCall" in message["params"]:
                asked.append(titles[call["toolCallId"]])
    page: dict[str, Any] = {"__name__": "client"}
    exec(steps(PAGE)[-1].files["client.py"], page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda: "1")
    async with v1.connect_in_process(lambda client: RecordedAgent(client, messages), page["TerminalClient"]) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd=tmp_path) as session, session.prompt("go") as turn:
            await turn.wait()
    shown = [line for line in capsys.readouterr().out.splitlines() if line.endswith(" (type a number)")]
    assert shown == [f"? {title} (type a number)".splitlines()[-1] for title in asked]
    assert turn.stop_reason == "end_turn"
