"""The example agent with a language model, in this process or its own, and the editor that uses it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import ClientSession, Terminals
from tests.support.kit.editors import EditorWithTerminals
from tests.support.kit.model_server import ModelServer
from tools.paths import ROOT

AGENT = ROOT / "examples" / "model_agent.py"


@asynccontextmanager
async def running(model: ModelServer, folder: Path) -> AsyncIterator[tuple[v1.RemoteAgent, EditorWithTerminals]]:
    """The agent in this process, which imports the packages for it once, and only if it runs these tests."""
    from openai import AsyncOpenAI

    from acp_kit.history import SqlHistory
    from examples import model_agent

    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(model, folder).items():
            patch.setenv(name, value)
        patch.setattr(model_agent, "MODELS", ["small", "large"])
        async with (
            Terminals(folder) as terminals,
            SqlHistory(folder.parent / "history.db") as history,
            AsyncOpenAI() as endpoint,
            v1.connect_in_process(
                lambda client: model_agent.ModelAgent(client, history, endpoint),
                lambda agent: EditorWithTerminals(agent, folder, terminals),
            ) as agent,
        ):
            yield agent, await initialized(agent)


@asynccontextmanager
async def in_its_own_process(model: ModelServer, folder: Path) -> AsyncIterator[v1.RemoteAgent]:
    """The agent as an editor starts it."""
    env = environment(model, folder)
    async with (
        Terminals(folder) as terminals,
        v1.spawn_agent(
            lambda agent: EditorWithTerminals(agent, folder, terminals),
            sys.executable,
            str(AGENT),
            cwd=str(ROOT),
            env=env,
        ) as agent,
    ):
        await initialized(agent)
        yield agent


def environment(model: ModelServer, folder: Path) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "test",
        "OPENAI_BASE_URL": model.url,
        "MODEL": "small,large",
        "HISTORY": str(folder.parent / "history.db"),
    }


async def initialized(agent: v1.RemoteAgent) -> EditorWithTerminals:
    editor: EditorWithTerminals = agent.handler  # type: ignore[assignment]
    capabilities = v1.ClientCapabilities(fs=editor.workspace.capabilities(), terminal=True)
    await agent.initialize(protocol_version=1, client_capabilities=capabilities)
    return editor


async def prompt(session: ClientSession, text: str) -> str | None:
    async with session.prompt(text) as turn:
        await turn.wait()
    return turn.stop_reason


def results(request: dict[str, Any]) -> list[str]:
    """The results of tools that the model has seen in a request."""
    return [message["content"] for message in request["messages"] if message["role"] == "tool"]
