"""beartype checks types at run time, in a package that uses ours, and in the bindings."""

from __future__ import annotations

import inspect
import pkgutil
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from beartype import beartype
from beartype.roar import BeartypeCallHintParamViolation

import acp_kit
from acp_bindings import v1
from acp_kit.history import HistoryStore
from acp_runtime.transports import Transport
from tests.support.programs import run_command

pytestmark = [pytest.mark.test_all, pytest.mark.slow]

AGENT = """
import asyncio

from acp_bindings.v1 import (
    Agent, ContentBlockText, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse,
    PromptRequest, PromptResponse, RemoteClient, SessionUpdateAgentMessageChunk, serve_stdio,
)

class Echo(Agent):
    def __init__(self, client: RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(protocol_version=1)

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        return NewSessionResponse(session_id="1")

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        chunk = SessionUpdateAgentMessageChunk(content=ContentBlockText(text="hello"))
        await self.client.session_update(session_id=request.session_id, update=chunk)
        return PromptResponse(stop_reason="end_turn")

asyncio.run(serve_stdio(Echo))
"""
CLIENT = """
import asyncio
import sys

from beartype.roar import BeartypeCallHintParamViolation

from acp_bindings.v1 import (
    Client, ContentBlockText, RemoteAgent, RequestPermissionRequest, RequestPermissionResponse, SessionNotification,
    spawn_agent,
)

class Printing(Client):
    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent

    async def session_update(self, notification: SessionNotification) -> None:
        print(notification.update.content.text, self.agent.capabilities.load_session)

    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        raise NotImplementedError

async def main() -> None:
    async with spawn_agent(Printing, sys.executable, "-W", "ignore", "-m", "user.agent") as agent:
        await agent.initialize(protocol_version=1)
        session = await agent.session_new(cwd="/", mcp_servers=[])
        turn = await agent.session_prompt(session_id=session.session_id, prompt=[ContentBlockText(text="hi")])
        print(turn.stop_reason, agent.process.returncode)
        try:
            await agent.session_new(cwd=3, mcp_servers=[])
        except BeartypeCallHintParamViolation as error:
            print("refused", error.culprits[0])

asyncio.run(main())
"""


def run(tmp_path: Path, module: str, hook: str) -> str:
    """Run a module of a package whose `__init__` installs beartype."""
    package = tmp_path / "user"
    package.mkdir()
    (package / "__init__.py").write_text(f"from beartype import claw\n\nclaw.{hook}\n", "utf-8")
    for name, text in {"agent": AGENT, "client": CLIENT}.items():
        (package / f"{name}.py").write_text(text, "utf-8")
    # beartype warns of `TypeAlias`, and of functions that it doesn't check.
    return run_command(sys.executable, "-W", "ignore", "-m", f"user.{module}", cwd=tmp_path)


def test_an_agent_and_a_client_work_under_beartype_which_checks_their_calls(tmp_path: Path) -> None:
    hook = 'beartype_packages(("user", "acp_bindings"))'
    assert run(tmp_path, "client", hook) == "hello False\nend_turn None\nrefused 3\n"


def public_types() -> Iterator[Any]:
    kit = [f"acp_kit.{module.name}" for module in pkgutil.iter_modules(acp_kit.__path__)]
    for module in map(import_module, ["acp_runtime", "acp_runtime.transports", "acp_bindings.v1", *kit]):
        for value in (getattr(module, name) for name in dir(module) if not name.startswith("_")):
            if inspect.isclass(value) and value.__module__.startswith("acp_"):
                yield value


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # old names
def test_every_public_type_may_be_an_annotation_in_a_package_that_beartype_checks() -> None:
    names = set(public_types())
    assert {HistoryStore, Transport, v1.PromptRequest} <= names
    for kind in names:

        def use(value: Any) -> None: ...

        use.__annotations__ = {"value": kind, "return": None}
        with warnings.catch_warnings(action="error"):
            checked = beartype(use)
    with pytest.raises(BeartypeCallHintParamViolation):
        checked(object())
