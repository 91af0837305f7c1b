"""The programs of the guides to frameworks, run as they are: their model is a local server, their client a test."""

from __future__ import annotations

import runpy
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import ClientSession, open_session
from tests.docs.frameworks.anthropic_server import AnthropicServer
from tests.support.docs.blocks import DOCS, blocks
from tests.support.kit.editors import Editor
from tests.support.kit.model_server import ModelServer, model_server
from tools.paths import ROOT

PAGES = [*sorted((DOCS / "guides" / "frameworks").glob("*.md")), DOCS / "guides" / "backends.md"]
BACKEND = ROOT / "examples" / "backend.py"


def programs() -> dict[str, str]:
    """Return the files of all pages by their names, and the backend, which its page includes."""
    results = [block for page in PAGES for block in blocks(page) if block.language == "python"]
    files = {block.file_name: block.text for block in results if block.file_name}
    return {**files, BACKEND.name: BACKEND.read_text("utf-8")}


@dataclass(frozen=True)
class Talk:
    """A session with an agent of a page."""

    model: ModelServer
    session: ClientSession
    editor: Editor
    folder: Path

    async def prompt(self, text: str) -> str | None:
        async with self.session.prompt(text) as turn:
            await turn.wait()
        return turn.stop_reason

    async def cancel_at_the_first_word(self, text: str) -> str | None:
        """Cancel a prompt when the first word of the answer has come, while the rest is held back."""
        self.model.may_end.clear()
        async with self.session.prompt(text) as turn:
            async for update in turn:
                if update.session_update == "agent_message_chunk":
                    break
        self.model.may_end.set()
        return turn.stop_reason

    @property
    def statuses(self) -> list[str | None]:
        return [call.status for call in self.session.state.tool_calls.values()]


Scenario = Callable[[Talk], Awaitable[None]]


@dataclass(frozen=True)
class Program:
    """A program of a page, and the local server that answers for its model."""

    file: str
    model: str
    api: type[ModelServer]

    def run(self, scenario: Scenario, *answers: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Run the program as `python <file>` does, but connect it to a client in this process."""
        project = folder / "project"
        project.mkdir()
        (project / "notes.txt").write_text("one\ntwo\n", "utf-8")
        for name, text in programs().items():
            (folder / name).write_text(text, "utf-8")
        listener = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setenv("MODEL", self.model)
        for provider, base in ("ANTHROPIC", url), ("OPENAI", f"{url}/v1"):
            monkeypatch.setenv(f"{provider}_API_KEY", "test")
            monkeypatch.setenv(f"{provider}_BASE_URL", base)
        served: list[str] = []

        async def serve(make: Callable[[v1.RemoteClient], v1.Agent]) -> None:
            async with (
                model_server(*answers, speaking=self.api, listener=listener) as model,
                v1.connect_in_process(make, lambda agent: Editor(agent, project)) as agent,
            ):
                editor: Any = agent.handler
                fs = editor.workspace.capabilities()
                await agent.initialize(protocol_version=1, client_capabilities=v1.ClientCapabilities(fs=fs))
                async with open_session(agent, cwd=project) as session:
                    await scenario(Talk(model, session, editor, project))
                assert model.answers == []
            served.append(self.file)

        monkeypatch.setattr(v1, "serve_stdio", serve)
        runpy.run_path(str(folder / self.file), run_name="__main__")
        assert served == [self.file]


def texts(value: Any) -> list[str]:
    """Return all texts in a request, in their order."""
    if isinstance(value, dict):
        return [text for key, item in value.items() if key not in {"role", "type"} for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


def calls_and_results(request: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the ids of the tool calls and of the results in a request."""
    called: list[str] = []
    answered: list[str] = []
    for message in request["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        called += [call["id"] for call in message.get("tool_calls") or []]
        called += [block["id"] for block in blocks if block["type"] == "tool_use"]
        answered += [message["tool_call_id"]] if message["role"] == "tool" else []
        answered += [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    return called, answered


PROGRAMS = {
    "anthropic": Program("anthropic_agent.py", "claude", AnthropicServer),
    "langgraph": Program("langgraph_agent.py", "anthropic:claude", AnthropicServer),
    "openai": Program("openai_agent.py", "gpt", ModelServer),
    "pydantic-ai": Program("pydantic_ai_agent.py", "openai-chat:gpt", ModelServer),
}
DEEP_AGENT = Program("deep_agent.py", "anthropic:claude", AnthropicServer)
