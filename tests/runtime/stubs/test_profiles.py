"""The runtime works with every profile, whichever is imported."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any, get_type_hints

import pytest

from acp_bindings import versions
from acp_runtime import CapabilityError
from acp_runtime.stubs.lazy import profile_names
from tests.support.runtime.any_profile import PROFILES, agent_of, client_of, opening
from tests.support.runtime.peer import Link, serving


@pytest.mark.parametrize("profile", PROFILES)
def test_dir_of_a_profile_lists_its_names(profile: str) -> None:
    module = import_module(f"acp_bindings.{profile}")
    assert {*module.__all__, "__name__"} <= set(dir(module))


def test_a_name_of_the_runtime_looked_up_in_a_profile_says_where_it_is() -> None:
    module = import_module("acp_bindings.v1")
    with pytest.raises(AttributeError, match=r"no attribute 'RequestError'\. Import it from acp_runtime\."):
        module.RequestError  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'Nothing'$"):
        module.Nothing  # noqa: B018


@pytest.mark.parametrize("profile", PROFILES)
async def test_a_turn_works_in_every_profile(profile: str) -> None:
    acp: Any = import_module(f"acp_bindings.{profile}")
    notes: list[Any] = []
    async with acp.connect_in_process(agent_of(acp), client_of(acp, notes)) as agent:
        assert (await agent.initialize(**opening(acp))).protocol_version == acp.PROTOCOL_VERSION
        session = await agent.session_new(cwd="/", mcp_servers=[])
        prompt = [acp.ContentBlockText(text="hi")]
        await agent.session_prompt(session_id=session.session_id, prompt=prompt)
        assert notes == [{"sessionId": "s1", "n": 1}]
        request = acp.PromptRequest(session_id="s1", prompt=prompt)
        assert type(await agent.request(request)) is acp.PromptResponse


@pytest.mark.parametrize("profile", ["v2_draft", "v2_draft_unstable"])
async def test_rule_27_the_guards_of_version_2_use_its_capabilities(profile: str) -> None:
    acp: Any = import_module(f"acp_bindings.{profile}")
    async with acp.connect_in_process(agent_of(acp), client_of(acp, [])) as agent:
        await agent.initialize(**opening(acp))
        image = acp.ContentBlockImage(data="", mime_type="image/png")
        with pytest.raises(CapabilityError, match=r"capabilities\.session\.prompt\.image"):
            await agent.session_prompt(session_id="s1", prompt=[image])
        server = acp.McpServerHttp(name="h", url="http://x")
        with pytest.raises(CapabilityError, match=r"capabilities\.session\.mcp\.http"):
            await agent.session_new(cwd="/", mcp_servers=[server])
        audio = acp.ContentBlockAudio(data="", mime_type="audio/wav")
        file = acp.ContentBlockResource(resource=acp.TextResourceContents(uri="file:///x", text="x"))
        for call, capability in (
            (agent.session_prompt(session_id="s1", prompt=[audio]), r"prompt\.audio"),
            (agent.session_prompt(session_id="s1", prompt=[file]), r"prompt\.embeddedContext"),
            (agent.session_new(cwd="/", mcp_servers=[acp.McpServerStdio(name="s", command="/x")]), r"mcp\.stdio"),
            (agent.session_new(cwd="/", mcp_servers=[], additional_directories=["/a"]), "additionalDirectories"),
            (agent.session_delete(session_id="s1"), "delete"),
        ):
            with pytest.raises(CapabilityError, match=rf"capabilities\.session\.{capability}"):
                await call


@pytest.mark.parametrize("profile", ["v2_draft", "v2_draft_unstable"])
async def test_rule_27_version_2_has_capabilities_for_all_sessions_and_all_logins(profile: str) -> None:
    acp: Any = import_module(f"acp_bindings.{profile}")

    class Bare(agent_of(acp)):  # type: ignore[misc]
        async def initialize(self, request: Any, /) -> Any:
            response = await super().initialize(request)
            return response.model_copy(update={"capabilities": acp.AgentCapabilities()})

    async with acp.connect_in_process(Bare, client_of(acp, [])) as agent:
        await agent.initialize(**opening(acp))
        for call, capability in (
            (agent.session_new(cwd="/", mcp_servers=[]), r"capabilities\.session"),
            (agent.session_list(), r"capabilities\.session"),
            (agent.session_resume(session_id="s", cwd="/"), r"capabilities\.session"),
            (agent.session_prompt(session_id="s", prompt=[acp.ContentBlockText(text="x")]), r"capabilities\.session"),
            (agent.session_cancel(session_id="s"), r"capabilities\.session"),
            (agent.session_close(session_id="s"), r"capabilities\.session"),
            (agent.auth_login(method_id="m"), "authMethods"),
            (agent.auth_logout(), "authMethods"),
        ):
            with pytest.raises(CapabilityError, match=f"needs '{capability}'"):
                await call


@pytest.mark.parametrize("profile", ["v1_unstable", "v2_draft_unstable"])
async def test_a_method_can_be_a_request_for_one_side_and_a_notification_for_another(link: Link, profile: str) -> None:
    acp: Any = import_module(f"acp_bindings.{profile}")
    done = asyncio.Event()

    class Connected(agent_of(acp)):  # type: ignore[misc]
        async def mcp_message(self, notification: Any, /) -> None:
            assert notification.method == "m"
            done.set()

    side = import_module(f"acp_bindings.{profile}.connecting").AGENT_SIDE
    async with serving(link, Connected, side=side, ready=False, guards="off") as peer:
        params = {"serverId": "s", "requestId": "r", "connectionId": "c", "method": "m"}
        assert (await peer.call("mcp/message", params))["error"]["code"] == -32601
        await peer.send({"method": "mcp/message", "params": params})
        await done.wait()


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("role", ["Agent", "Client"])
def test_the_type_hints_of_a_handler_class_can_be_read(profile: str, role: str) -> None:
    handler = getattr(import_module(f"acp_bindings.{profile}"), role)
    assert set(get_type_hints(handler)) <= {"_acp_schema", "_acp_renamed", "_acp_handled"}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_names_in_annotations_for_several_versions_can_be_looked_up(profile: str) -> None:
    begin = "".join(part.capitalize() for part in profile.split("_"))
    load = profile_names("acp_bindings", {begin: profile})
    for stub in ("Agent", "Client", "RemoteAgent", "RemoteClient"):
        expected = getattr(import_module(f"acp_bindings.{profile}"), stub)
        assert load(f"{begin}{stub}") is getattr(versions, f"{begin}{stub}") is expected
    assert load(f"{begin}Offer") == getattr(versions, f"{begin}Offer") == tuple[Any, Any]
    for name in (begin, "V9Agent", "V9Offer"):
        with pytest.raises(AttributeError, match=rf"^module 'acp_bindings\.versions' has no attribute '{name}'$"):
            load(name)
