"""Rule 27 for values inside of messages: what arrives although this side did not advertise it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from typing import Any

import pytest

from acp_bindings import v1, v2_draft
from tests.runtime.connection.v2_peer import AgentV2, serving_v2
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import Link, PlainClient, calling

BOOLEAN = v1.SessionConfigOptionBoolean(id="b", name="b", current_value=True)


async def test_rule_27_an_update_that_this_client_did_not_advertise_is_logged_and_handled(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    notice = {"sessionUpdate": "notice", "severity": "info", "title": "x"}
    factory = RecordingFactory(PlainClient)
    async with calling(link, factory) as (_, peer):
        for _ in range(20):
            await peer.send({"method": "session/update", "params": {"sessionId": "s", "update": notice}})
        assert await peer.until_quiet() == []
    assert len(factory.handler.updates) == 20
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warnings[0] == (
        "The peer broke the protocol with update.notice in session/update: "
        "Needs 'clientCapabilities.session.notices', which this side did not advertise"
    )
    assert len(warnings) < 10


@pytest.mark.parametrize(("guards", "is_logged"), [("raise", True), ("off", False)])
async def test_rule_27_a_result_beyond_this_clients_capabilities_is_logged_and_returned(
    link: Link, caplog: pytest.LogCaptureFixture, guards: str, is_logged: bool
) -> None:
    async with calling(link, guards=guards) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        option = json.loads(BOOLEAN.model_dump_json())
        await peer.answer(result={"sessionId": "s", "configOptions": [option]})
        assert (await call).config_options == [BOOLEAN]
    said = "The peer broke the protocol with configOptions.boolean in session/new"
    assert [record.getMessage().startswith(said) for record in caplog.records] == [True] * is_logged


async def test_rule_27_values_of_capabilities_that_this_client_advertises_later_are_no_longer_logged(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    option = json.loads(BOOLEAN.model_dump_json())
    update = {"sessionUpdate": "notice", "severity": "info", "title": "x"}
    notice = {"method": "session/update", "params": {"sessionId": "s", "update": update}}
    session: dict[str, Any] = {"configOptions": {"boolean": {}}, "notices": {}}
    capabilities = v1.ClientCapabilities.model_validate({"session": session})
    async with calling(link) as (agent, peer):

        async def answer(call: Awaitable[Any], result: Any) -> None:
            pending = asyncio.ensure_future(call)
            await peer.answer(result=result)
            await pending

        new = {"sessionId": "s", "configOptions": [option]}
        await peer.send(notice)
        await answer(agent.session_new(cwd="/", mcp_servers=[]), new)
        await answer(
            agent.initialize(protocol_version=1, client_capabilities=capabilities),
            {"protocolVersion": 1},
        )
        await answer(agent.session_new(cwd="/", mcp_servers=[]), new)
        await peer.send(notice)
        assert await peer.until_quiet() == []
    assert caplog.text.count("configOptions.boolean in session/new") == 1
    assert caplog.text.count("update.notice in session/update") == 1


STDIO = {"type": "stdio", "name": "x", "command": "/x", "args": [], "env": []}
NEW_V2 = {"cwd": "/", "mcpServers": []}
PROMPT_V2 = {"sessionId": "s1"}
REJECTED = {
    "content": ("session/prompt", PROMPT_V2 | {"prompt": [{"type": "image", "data": "", "mimeType": "image/png"}]}),
    "unknown content": ("session/prompt", PROMPT_V2 | {"prompt": [{"type": "_hologram"}]}),
    "a server": ("session/new", NEW_V2 | {"mcpServers": [STDIO]}),
    "an unknown server": ("session/new", NEW_V2 | {"mcpServers": [{"type": "quic", "name": "x"}]}),
    "an unknown cursor": ("session/resume", NEW_V2 | {"sessionId": "s1", "replayFrom": {"type": "later"}}),
    "an unknown setting": (
        "session/set_config_option",
        {"sessionId": "s1", "configId": "c", "type": "_dial", "value": 5},
    ),
}


class Agent(AgentV2):  # type: ignore[misc]
    async def session_prompt(self, request: Any, /) -> Any:
        return v2_draft.PromptResponse(message_id="m")

    async def session_resume(self, request: Any, /) -> Any:
        return v2_draft.ResumeSessionResponse()

    async def session_set_config_option(self, request: Any, /) -> Any:
        return v2_draft.SetSessionConfigOptionResponse(config_options=[])


@pytest.mark.parametrize(("method", "params"), REJECTED.values(), ids=REJECTED)
async def test_rule_27_an_agent_rejects_unsupported_content_where_version_2_says_so(
    link: Link, caplog: pytest.LogCaptureFixture, method: str, params: Any
) -> None:
    async with serving_v2(link, Agent) as peer:
        error = (await peer.call(method, params))["error"]
        assert error["code"] == -32602
        (fault,) = error["data"]["errors"]
        assert fault["message"].endswith(("which this side did not advertise", "does not support this type"))
    async with serving_v2(link, Agent, guards="warn") as peer:
        assert "result" in await peer.call(method, params)
    assert f"in {method}: {fault['message']}" in caplog.text


async def test_rule_27_an_agent_accepts_content_that_it_advertised(link: Link) -> None:
    class Rich(Agent):
        async def initialize(self, request: Any, /) -> Any:
            capabilities = {"session": {"prompt": {"image": {}}, "mcp": {"stdio": {}}}}
            response = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": capabilities}
            return v2_draft.InitializeResponse.model_validate(response)

    async with serving_v2(link, Rich) as peer:
        for name in ("content", "a server"):
            assert "result" in await peer.call(*REJECTED[name])
        assert "error" in await peer.call(*REJECTED["unknown content"])
