"""Rules 25, 27 and 29: which methods may be called, and which calls for a session that is gone succeed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from acp_bindings.v1 import (
    ContentBlock,
    ContentBlockAudio,
    ContentBlockImage,
    ContentBlockResource,
    ContentBlockResourceLink,
    ContentBlockText,
    ElicitationSchema,
    HttpHeader,
    McpServer,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
    RemoteAgent,
    RemoteClient,
    TextResourceContents,
)
from acp_runtime import CapabilityError, InternalError, NotInitialized, ResourceNotFound
from tests.runtime.connection.sending import messages_of
from tests.runtime.connection.v2_peer import calling_v2
from tests.support.runtime.peer import INITIALIZE, Link, Peer, PlainAgent, calling, serving, update

NEW = {"cwd": "/", "mcpServers": []}


async def test_rule_25_a_request_before_initialize_is_answered_invalid_request(link: Link) -> None:
    async with serving(link, ready=False) as peer:
        error = (await peer.call("session/new", NEW))["error"]
        assert (error["code"], error["data"]) == (-32600, {"method": "session/new"})
        assert "result" in await peer.call("initialize", INITIALIZE)
        assert "result" in await peer.call("session/new", NEW)


async def test_rule_25_notifications_before_initialize_are_ignored(link: Link) -> None:
    async with calling(link, ready=False) as (_, peer):
        await peer.send(update("s", "1"))
        assert await peer.until_quiet() == []


async def test_rule_25_a_call_before_initialize_raises_and_sends_nothing(link: Link) -> None:
    async with calling(link, ready=False) as (agent, peer):
        with pytest.raises(NotInitialized, match="session/new"):
            await agent.session_new(cwd="/", mcp_servers=[])
        assert await peer.until_quiet() == []


async def test_rule_25_guards_can_be_warnings_or_off(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    for guards, logged in (("warn", True), ("off", False)):
        caplog.clear()
        async with calling(link, ready=False, guards=guards) as (agent, peer):
            call = asyncio.create_task(agent.session_new(cwd="relative", mcp_servers=[]))
            request = await peer.receive()
            assert request["method"] == "session/new"
            await peer.send({"id": request["id"], "result": {"sessionId": "s"}})
            await call
        assert ["initialize" in record.getMessage() for record in caplog.records] == [True] * logged
        async with serving(link, ready=False, guards=guards) as peer:
            assert "result" in await peer.call("session/new", NEW)


async def _assert_stopped(agent: RemoteAgent, peer: Peer, call: Any, capability: str) -> None:
    with pytest.raises(CapabilityError, match=capability):
        await call
    assert await peer.until_quiet() == []


@pytest.mark.parametrize("capabilities", [{}, {"loadSession": False, "sessionCapabilities": {"list": None}}])
async def test_rule_27_a_method_that_the_agent_did_not_advertise_raises_and_sends_nothing(
    link: Link, capabilities: Any
) -> None:
    async with calling(link, capabilities=capabilities) as (agent, peer):
        for call, capability in (
            (agent.session_load(session_id="s", cwd="/", mcp_servers=[]), "loadSession"),
            (agent.session_list(), "sessionCapabilities.list"),
            (agent.session_resume(session_id="s", cwd="/"), "sessionCapabilities.resume"),
            (agent.session_close(session_id="s"), "sessionCapabilities.close"),
            (agent.session_delete(session_id="s"), "sessionCapabilities.delete"),
            (agent.logout(), "auth.logout"),
            (agent.authenticate(method_id="m"), "authMethods"),
        ):
            await _assert_stopped(agent, peer, call, capability)


ADVERTISED = {
    "loadSession": True,
    "sessionCapabilities": {"list": {}, "close": {}, "delete": {}, "additionalDirectories": {}},
    "auth": {"logout": {}},
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
}


async def test_rule_27_a_method_that_the_agent_advertised_is_sent(link: Link) -> None:
    async with calling(link, capabilities=ADVERTISED) as (agent, peer):
        servers: list[McpServer] = [*REMOTE_SERVERS, McpServerStdio(name="x", command="/x", args=[], env=[])]
        new = agent.session_new(cwd="/", mcp_servers=servers, additional_directories=["/a"])
        for method, call, result in (
            ("session/load", agent.session_load(session_id="s", cwd="/", mcp_servers=[]), {}),
            ("session/list", agent.session_list(), {"sessions": []}),
            ("logout", agent.logout(), {}),
            ("session/prompt", agent.session_prompt(session_id="s", prompt=RICH), {"stopReason": "end_turn"}),
            ("session/new", new, {"sessionId": "s"}),
        ):
            task = asyncio.ensure_future(call)  # type: ignore[arg-type]
            sent = await peer.receive()
            assert sent["method"] == method
            await peer.send({"id": sent["id"], "result": result})
            await task


RICH: list[ContentBlock] = [
    ContentBlockImage(data="", mime_type="image/png"),
    ContentBlockAudio(data="", mime_type="audio/wav"),
    ContentBlockResource(resource=TextResourceContents(uri="file:///x", text="x")),
]
REMOTE_SERVERS: list[McpServer] = [
    McpServerHttp(name="h", url="http://x", headers=[HttpHeader(name="a", value="b")]),
    McpServerSse(name="s", url="http://x", headers=[]),
]


async def test_rule_27_content_and_servers_need_capabilities_of_their_own(link: Link) -> None:
    async with calling(link) as (agent, peer):
        for block, capability in zip(RICH, ("image", "audio", "embeddedContext"), strict=True):
            call = agent.session_prompt(session_id="s", prompt=[ContentBlockText(text="x"), block])
            await _assert_stopped(agent, peer, call, f"promptCapabilities.{capability}")
        for server, capability in zip(REMOTE_SERVERS, ("http", "sse"), strict=True):
            call_new = agent.session_new(cwd="/", mcp_servers=[server])
            await _assert_stopped(agent, peer, call_new, f"mcpCapabilities.{capability}")
        more = agent.session_new(cwd="/", mcp_servers=[], additional_directories=["/a"])
        await _assert_stopped(agent, peer, more, "additionalDirectories")


async def test_rule_27_a_capability_under_another_name_unlocks_nothing(link: Link) -> None:
    async with calling(link, capabilities={"mcp": {"http": True, "sse": True}}) as (agent, peer):
        for server, capability in zip(REMOTE_SERVERS, ("http", "sse"), strict=True):
            call = agent.session_new(cwd="/", mcp_servers=[server])
            await _assert_stopped(agent, peer, call, f"mcpCapabilities.{capability}")


async def test_rule_27_texts_and_links_in_a_prompt_need_no_capability(link: Link) -> None:
    async with calling(link) as (agent, peer):
        blocks = [ContentBlockText(text="x"), ContentBlockResourceLink(name="a.py", uri="file:///a.py")]
        call = asyncio.create_task(agent.session_prompt(session_id="s", prompt=blocks))
        request = await peer.receive()
        assert [block["type"] for block in request["params"]["prompt"]] == ["text", "resource_link"]
        await peer.send({"id": request["id"], "result": {"stopReason": "end_turn"}})
        await call


def _read(client: RemoteClient) -> Any:
    return client.fs_read_text_file(session_id="s", path="/x")


def _run(client: RemoteClient) -> Any:
    return client.terminal_create(session_id="s", command="x")


def _form(client: RemoteClient) -> Any:
    return client.elicitation_create(
        session_id="s", mode="form", message="?", requested_schema=ElicitationSchema(properties={})
    )


def _url(client: RemoteClient) -> Any:
    return client.elicitation_create(session_id="s", mode="url", message="?", url="http://x", elicitation_id="e")


def _complete(client: RemoteClient) -> Any:
    return client.elicitation_complete(elicitation_id="e")


@pytest.mark.parametrize(
    ("capabilities", "ask", "missing"),
    [
        ({}, _read, "clientCapabilities.fs.readTextFile"),
        ({"fs": {"writeTextFile": True}}, _read, "clientCapabilities.fs.readTextFile"),
        ({"fs": {"readTextFile": "yes"}}, _read, "clientCapabilities.fs.readTextFile"),
        ({"fs": {"readTextFile": True}}, _read, None),
        ({}, _run, "clientCapabilities.terminal"),
        ({"terminal": True}, _run, None),
        ({}, _form, "clientCapabilities.elicitation"),
        ({"elicitation": {}}, _form, "clientCapabilities.elicitation.form"),
        ({"elicitation": {}}, _url, "clientCapabilities.elicitation.url"),
        ({"elicitation": {"url": {}}}, _form, "clientCapabilities.elicitation.form"),
        ({"elicitation": {"form": {}}}, _url, "clientCapabilities.elicitation.url"),
        ({"elicitation": {"form": {}}}, _complete, "clientCapabilities.elicitation.url"),
        ({"elicitation": {"form": {}}}, _form, None),
    ],
)
async def test_rule_27_a_method_that_the_client_did_not_advertise_raises_and_sends_nothing(
    link: Link, capabilities: Any, ask: Any, missing: str | None
) -> None:
    if missing is None:
        assert len(await messages_of(link, ask, capabilities)) == 1
        return
    with pytest.raises(CapabilityError) as caught:
        await messages_of(link, ask, capabilities)
    assert caught.value.capability == missing


async def test_rule_27_a_call_that_the_peer_did_not_advertise_raises_each_time(link: Link) -> None:
    class Running(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            for cwd in ("/", None, "/", None):
                with pytest.raises(CapabilityError, match=r"clientCapabilities\.terminal"):
                    await self.client.terminal_create(session_id="s1", command="make", cwd=cwd)

    async with serving(link, Running) as peer:
        assert (await peer.call("_run"))["result"] is None


async def test_rule_27_only_an_existing_terminal_can_be_killed_or_released_without_a_capability(link: Link) -> None:
    class Running(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            match method:
                case "_create":
                    await self.client.terminal_create(session_id="s", command="x")
                case "_kill":
                    await self.client.terminal_kill(session_id="s", terminal_id=params)
                case _:
                    await self.client.terminal_release(session_id="s", terminal_id=params)

    async def asks(method: str, params: Any) -> str:
        """Call an extension method, and return the method that the agent calls then; `nothing` if a guard stops it."""
        await peer.send({"id": method, "method": method, "params": params})
        reply = await peer.receive()
        if "error" in reply:
            return "nothing"
        await peer.send({"id": reply["id"], "result": {"terminalId": "t"}})
        assert "result" in await peer.receive()
        return str(reply["method"])

    async with serving(link, Running) as peer:
        await peer.call("initialize", {"protocolVersion": 1, "clientCapabilities": {"terminal": True}})
        assert await asks("_create", None) == "terminal/create"
        await peer.call("initialize", INITIALIZE)
        assert await asks("_create", None) == "nothing"
        assert await asks("_kill", "t") == "terminal/kill"
        assert await asks("_kill", "u") == "nothing"
        assert await asks("_release", "t") == "terminal/release"
        assert await asks("_kill", "t") == "nothing"
        assert await asks("_release", "t") == "nothing"


@pytest.mark.parametrize("answer", [{"result": None}, {"result": {}}, {"error": {"code": -32002, "message": "gone"}}])
async def test_rule_29_closing_or_deleting_a_session_that_is_gone_succeeds(link: Link, answer: Any) -> None:
    async with calling(link, capabilities=ADVERTISED) as (agent, peer):
        for call in (agent.session_close(session_id="s"), agent.session_delete(session_id="s")):
            task = asyncio.ensure_future(call)
            await peer.answer(**answer)
            assert json.loads((await task).model_dump_json()) == {}  # type: ignore[attr-defined]


async def test_rule_29_closing_or_deleting_a_session_may_fail_otherwise(link: Link) -> None:
    async with calling(link, capabilities=ADVERTISED) as (agent, peer):
        for call in (agent.session_close(session_id="s"), agent.session_delete(session_id="s")):
            task = asyncio.ensure_future(call)
            await peer.answer(error={"code": -32603, "message": "busy"})
            with pytest.raises(InternalError, match="busy"):
                await task


async def test_rule_29_closing_or_deleting_a_session_that_is_gone_succeeds_in_version_2(link: Link) -> None:
    async with calling_v2(link) as (agent, peer):
        for call in (agent.session_close(session_id="s"), agent.session_delete(session_id="s")):
            task = asyncio.ensure_future(call)
            await peer.answer(error={"code": -32002, "message": "gone"})
            assert json.loads((await task).model_dump_json()) == {}


async def test_rule_29_other_calls_raise_resource_not_found(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
        error = {"code": -32002, "message": "gone"}
        await peer.answer(error=error)
        with pytest.raises(ResourceNotFound):
            await call
