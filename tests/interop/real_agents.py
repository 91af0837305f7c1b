"""Agents of version 1 that people use, with a local model whose answers the test writes."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.kit.model_server import ModelOutput, ModelServer, model_server, words
from tests.support.skipping import skip_without
from tools.third_party import UnavailableError, gemini_cli, opencode

EDITED = "edited.txt"


class OpencodeServer(ModelServer):
    """Answers requests for the title of a session, which have no tools, in between."""

    async def _answer(self, writer: asyncio.StreamWriter) -> None:
        if not self.requests[-1].get("tools"):
            self.answers.insert(0, "A title")
        await super()._answer(writer)


class GeminiServer(ModelServer):
    """Streams the next of `answers` for each request, in events of Gemini."""

    def _first_events(self, answer: ModelOutput) -> list[bytes]:
        if isinstance(answer, str):
            return [_gemini_event({"text": word}) for word in words(answer)]
        return [_gemini_event({"functionCall": {"name": name, "args": arguments}}) for name, arguments in answer]

    def _last_events(self, answer: ModelOutput) -> list[bytes]:
        return [_gemini_event({"text": ""}, finishReason="STOP")]


def _gemini_event(part: dict[str, Any], **more: Any) -> bytes:
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, **more}
    return b"data: " + json.dumps({"candidates": [candidate]}).encode() + b"\n\n"


@dataclass(frozen=True)
class RealAgent:
    """An agent.

    Attributes:
        name: the name that it gives.
        server: the server of its model.
        command: returns the command that starts it.
        edit: returns the model's call of the tool that writes a file, given its path.
        allowed: the id of the option that permits one call.
        settings: makes its settings in its home folder, given the URL of the model. Returns its environment.
    """

    name: str
    server: type[ModelServer]
    command: Callable[[], list[str]]
    edit: Callable[[str], tuple[str, dict[str, Any]]]
    allowed: str
    settings: Callable[[Path, str], Mapping[str, str]]


def _opencode_settings(home: Path, url: str) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Local",
        "options": {"baseURL": url, "apiKey": "none"},
        "models": {"m": {"name": "M", "tool_call": True}},
    }
    config = {"provider": {"local": provider}, "model": "local/m", "small_model": "local/m"}
    more = {"permission": {"edit": "ask"}, "autoupdate": False, "share": "disabled", "snapshot": False}
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(config | more), "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def _gemini_settings(home: Path, url: str) -> Mapping[str, str]:
    security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    settings = {"security": security, "privacy": {"usageStatisticsEnabled": False}}
    folder = home / ".gemini"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps(settings), "utf-8")
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url.removesuffix("/v1")}


OPENCODE = RealAgent(
    name="OpenCode",
    server=OpencodeServer,
    command=opencode,
    edit=lambda path: ("edit", {"filePath": path, "oldString": "old", "newString": "new"}),
    allowed="once",
    settings=_opencode_settings,
)
GEMINI_CLI = RealAgent(
    name="gemini-cli",
    server=GeminiServer,
    command=gemini_cli,
    edit=lambda path: ("write_file", {"file_path": path, "content": "new\n"}),
    allowed="proceed_once",
    settings=_gemini_settings,
)


@asynccontextmanager
async def prepared(agent: RealAgent, folder: Path, *answers: Any) -> AsyncGenerator[tuple[ModelServer, list[str]]]:
    """Start the model of an agent. Yield it, and the command that starts the agent with its own environment.

    The agent works in `folder/work`, which has a file to edit.
    """
    try:
        command = agent.command()
    except UnavailableError as reason:
        skip_without(f"{agent.name} can't be installed", reason)
    (folder / "work").mkdir()
    (folder / "work" / EDITED).write_text("old\n", "utf-8")
    async with model_server(*answers, speaking=agent.server) as model:
        own = agent.settings(folder / "home", model.url)
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), **own}
        yield model, ["env", *(f"{name}={value}" for name, value in environment.items()), *command]
