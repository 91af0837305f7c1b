"""Importing a profile loads only the modules that it needs. Each test runs in a fork with only pydantic imported."""

from __future__ import annotations

import json

import pytest

from tests.support.programs import output_of

pytestmark = pytest.mark.slow

REPORT = "import json, sys; print(json.dumps(sorted(sys.modules)))"

every_profile = pytest.mark.parametrize("profile", ["v1", "v2_draft_unstable"])


def _loaded_by(statement: str) -> set[str]:
    return set(json.loads(output_of(f"{statement}\n{REPORT}")))


def _profiles(modules: set[str]) -> set[str]:
    return {name.split(".")[1] for name in modules if name.startswith("acp_bindings.")}


def _topics(modules: set[str]) -> set[str]:
    return {name.split(".")[3] for name in modules if name.startswith("acp_bindings.") and name.count(".") == 3}


@every_profile
def test_importing_a_profile_loads_no_models_no_asyncio_and_no_other_profile(profile: str) -> None:
    loaded = _loaded_by(f"import acp_bindings.{profile}")
    assert _profiles(loaded) == {profile}
    assert not {"asyncio", f"acp_bindings.{profile}.models"} & loaded


@every_profile
def test_importing_the_models_loads_no_topic(profile: str) -> None:
    loaded = _loaded_by(f"import acp_bindings.{profile}.models")
    assert f"acp_bindings.{profile}.models" in loaded
    assert _topics(loaded) == set()


@every_profile
def test_a_definition_loads_its_own_topic_and_the_topics_it_needs(profile: str) -> None:
    assert _topics(_loaded_by(f"from acp_bindings.{profile} import ContentBlock")) == {"common", "content"}


PROMPT = """
import asyncio
from acp_bindings import v1 as acp

class EchoAgent(acp.Agent):
    def __init__(self, client):
        self.client = client

    async def initialize(self, request):
        return acp.InitializeResponse(protocol_version=request.protocol_version)

    async def session_new(self, request):
        return acp.NewSessionResponse(session_id="1")

    async def session_prompt(self, request):
        update = acp.SessionUpdateAgentMessageChunk(content=request.prompt[0])
        await self.client.session_update(session_id=request.session_id, update=update)
        return acp.PromptResponse(stop_reason="end_turn")

class Client(acp.Client):
    async def session_update(self, notification):
        print(notification.update.content.text)

    async def session_request_permission(self, request):
        raise NotImplementedError

async def main():
    async with acp.connect_in_process(EchoAgent, lambda agent: Client()) as agent:
        await agent.initialize(protocol_version=1)
        session = await agent.session_new(cwd="/", mcp_servers=[])
        await agent.session_prompt(session_id=session.session_id, prompt=[acp.ContentBlockText(text="hi")])

asyncio.run(main())
"""
OF_A_PROMPT = {"common", "connection", "content", "mcp", "sessions", "settings", "tool_calls", "updates"}


def test_a_prompt_loads_no_elicitation_files_terminals_and_envelopes() -> None:
    text, loaded = output_of(f"{PROMPT}\n{REPORT}").splitlines()
    assert text == "hi"
    assert _topics(set(json.loads(loaded))) == OF_A_PROMPT


def test_the_messages_of_a_prompt_need_no_elicitation_and_envelopes() -> None:
    names = "InitializeRequest, NewSessionRequest, PromptRequest, UpdateSessionNotification"
    loaded = _topics(_loaded_by(f"from acp_bindings.v2_draft import {names}"))
    assert loaded == {*OF_A_PROMPT, "terminals"}


def test_the_runtime_never_loads_generated_code() -> None:
    statement = "import acp_runtime, acp_runtime.stubs.roles, acp_runtime.models.scalars, acp_runtime.stubs.lazy"
    assert not {name for name in _loaded_by(statement) if name.startswith("acp_bindings")}
