"""Our client with agents written with the official SDKs."""

from __future__ import annotations

import asyncio
import json

import pytest

from acp_bindings.v1 import PromptResponse, ToolCallUpdate
from acp_runtime import (
    AuthenticationRequired,
    CapabilityError,
    InternalError,
    InvalidParams,
    InvalidResponse,
    MethodNotFound,
    ProtocolVersionMismatch,
    RequestError,
    ResourceNotFound,
)
from tests.support.interop.extensions import ECHO, NOTE, WRONG_ECHO, EchoParams, Note, Numbers
from tests.support.interop.our_client import SCRIPT, connected, content, in_session, mcp_servers, plain
from tests.support.interop.their_client import Command

pytestmark = pytest.mark.xdist_group("their agents")

NO_DELETE = "the Python SDK 0.12.1 has no handler for session/delete"


async def test_initialize_exchanges_version_capabilities_and_info(their_agent: Command, sdk: str) -> None:
    async with in_session(their_agent) as client:
        assert client.initialized
        response = plain(client.initialized)
    assert response["protocolVersion"] == 1
    assert response["agentInfo"] == SCRIPT["agentInfo"]
    assert response["authMethods"] == SCRIPT["authMethods"]
    capabilities = response["agentCapabilities"]
    if sdk == "python":
        capabilities["sessionCapabilities"]["delete"] = {}
    assert capabilities == SCRIPT["agentCapabilities"]
    received = response["_meta"]["received"]["clientCapabilities"]
    assert {**received, **SCRIPT["clientCapabilities"]} == received  # the TypeScript SDK fills in defaults
    assert response["_meta"]["received"]["clientInfo"] == SCRIPT["clientInfo"]


async def test_an_agent_with_another_protocol_version_is_refused(their_agent: Command) -> None:
    async with connected(their_agent, "--version-7") as client:
        with pytest.raises(ProtocolVersionMismatch) as refused:
            await client.initialize()
    assert refused.value.offered == 7


async def test_a_session_can_be_created_only_after_authenticating(their_agent: Command) -> None:
    async with connected(their_agent, "--auth") as client:
        await client.initialize()
        with pytest.raises(AuthenticationRequired) as refused:
            await client.agent.session_new(cwd="/tmp", mcp_servers=[])
        assert (refused.value.code, refused.value.data) == (-32000, {"methods": ["login"]})
        with pytest.raises(InvalidParams):
            await client.agent.authenticate(method_id="guess")
        await client.agent.authenticate(method_id="login")
        assert (await client.agent.session_new(cwd="/tmp", mcp_servers=[])).session_id == "new"


async def test_mcp_servers_of_every_transport_are_sent_with_a_new_session(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        session = await client.agent.session_new(cwd="/tmp", mcp_servers=mcp_servers())
    assert session.meta is not None
    assert session.meta["received"]["mcpServers"] == SCRIPT["mcpServers"]
    assert session.meta["received"]["cwd"] == "/tmp"
    assert plain(session)["modes"] == SCRIPT["modes"]
    assert plain(session)["configOptions"] == SCRIPT["configOptions"]


async def test_the_history_of_a_loaded_session_arrives_before_the_response(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        loaded = await client.agent.session_load(session_id="old", cwd="/tmp", mcp_servers=mcp_servers())
        assert [plain(each.update) for each in client.updates] == SCRIPT["history"]
        assert {each.session_id for each in client.updates} == {"old"}
        assert plain(loaded)["modes"] == SCRIPT["modes"]
        with pytest.raises(ResourceNotFound):
            await client.agent.session_load(session_id="nowhere", cwd="/tmp", mcp_servers=[])


async def test_updates_arrive_in_order_and_keep_unknown_fields(their_agent: Command, sdk: str) -> None:
    async with in_session(their_agent) as client:
        turn = await client.prompt("stream 200")
        assert client.texts() == [str(each) for each in range(200)]
    assert plain(turn) == {"stopReason": "end_turn", "future": {"deep": [1, None]}}
    third = plain(client.updates[3].update)
    assert third["_meta"] == {"n": 3}
    if sdk == "typescript":  # the models of the Python SDK can't hold unknown fields
        assert third["tomorrow"] == [3]
        assert third["content"] == {"type": "text", "text": "3", "future": 3}


async def test_a_prompt_can_have_every_kind_of_content_that_the_agent_accepts(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("dump", *content())
    assert json.loads(client.texts()[0]) == [{"type": "text", "text": "dump"}, *SCRIPT["content"]]


@pytest.mark.parametrize(("selected", "status"), [("allow", "completed"), ("reject", "failed")])
async def test_a_tool_call_continues_with_the_option_that_the_user_selects(
    their_agent: Command, selected: str, status: str
) -> None:
    async with in_session(their_agent) as client:
        client.selected_option = selected
        await client.prompt("permission")
    call, ended, message = (plain(each.update) for each in client.updates)
    assert call == SCRIPT["toolCall"]
    assert ended["status"] == status
    assert json.loads(message["content"]["text"]) == {"outcome": "selected", "optionId": selected}
    method, request = client.requests[0]
    assert method == "session/request_permission"
    assert plain(request) == {"sessionId": "new", **SCRIPT["permission"]}
    assert isinstance(request.tool_call, ToolCallUpdate)


async def test_cancelling_a_turn_cancels_its_pending_permission_request(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        client.selected_option = None
        turn = asyncio.create_task(client.prompt("permission"))
        await client.until("session/request_permission")
        await client.agent.session_cancel(session_id="new")
        assert (await turn).stop_reason == "cancelled"
    assert [json.loads(each) for each in client.texts()] == [{"outcome": "cancelled"}]


async def test_a_cancelled_turn_ends_with_the_stop_reason_cancelled(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        turn = asyncio.create_task(client.prompt("wait"))
        await client.until("waiting")
        await client.agent.session_cancel(session_id="new")
        assert (await turn).stop_reason == "cancelled"
        assert (await client.prompt("stream 1")).stop_reason == "end_turn"


async def test_cancelling_the_task_of_a_prompt_ends_the_turn_and_the_next_prompt_runs(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        turn = asyncio.create_task(client.prompt("wait"))
        await client.until("waiting")
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert (await client.prompt("stream 1")).stop_reason == "end_turn"


async def test_the_agent_reads_a_file(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("read /etc/file")
    assert client.texts() == ["second line\n"]
    method, request = client.requests[0]
    assert (method, plain(request)) == (
        "fs/read_text_file",
        {"sessionId": "new", "path": "/etc/file", "line": 2, "limit": 1},
    )


async def test_the_agent_writes_a_file(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("write /etc/file héllo\u2028")
    assert client.texts() == ["written"]
    method, request = client.requests[0]
    assert (method, plain(request)["path"]) == ("fs/write_text_file", "/etc/file")
    assert plain(request)["content"].startswith("héllo")


async def test_the_agent_runs_a_terminal_from_create_to_release(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("terminal")
    methods = [method for method, _ in client.requests]
    assert methods == [f"terminal/{each}" for each in ("create", "output", "kill", "wait_for_exit", "release")]
    created, *others = (plain(request) for _, request in client.requests)
    assert created == {"sessionId": "new", **SCRIPT["terminal"]}
    assert others == [{"sessionId": "new", "terminalId": "t-1"}] * 4
    output, status = {"output": "making\n", "truncated": True}, {"signal": "SIGKILL"}
    assert json.loads(client.texts()[0]) == ["t-1", output, status]


async def test_the_response_to_setting_a_mode_comes_after_its_update(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.agent.session_set_mode(session_id="new", mode_id="code")
        assert [plain(each.update) for each in client.updates] == [
            {"sessionUpdate": "current_mode_update", "currentModeId": "code"}
        ]


async def test_a_config_option_can_be_set_to_a_string_or_a_boolean(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        agent = client.agent
        model = await agent.session_set_config_option(session_id="new", config_id="model", value="large")
        assert [plain(each)["currentValue"] for each in model.config_options] == ["large", False]
        both = await agent.session_set_config_option(session_id="new", config_id="verbose", type="boolean", value=True)
        assert [plain(each)["currentValue"] for each in both.config_options] == ["large", True]
        with pytest.raises(InvalidParams):
            await agent.session_set_config_option(session_id="new", config_id="verbose", value="yes")


async def test_sessions_are_listed_page_by_page(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        first = await client.agent.session_list()
        rest = await client.agent.session_list(cursor=first.next_cursor)
    assert [plain(each) for each in [*first.sessions, *rest.sessions]] == SCRIPT["sessions"]
    assert rest.next_cursor is None


async def test_resuming_a_session_does_not_replay_its_history(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        resumed = await client.agent.session_resume(session_id="old", cwd="/tmp")
        assert plain(resumed)["modes"] == SCRIPT["modes"]
        with pytest.raises(ResourceNotFound):
            await client.agent.session_resume(session_id="nowhere", cwd="/tmp")
    assert client.updates == []


async def test_closing_a_missing_session_succeeds(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.agent.session_close(session_id="old")
        await client.agent.session_close(session_id="nowhere")


async def test_a_deleted_session_is_not_listed(their_agent: Command, sdk: str) -> None:
    if sdk == "python":
        pytest.skip(NO_DELETE)
    async with connected(their_agent) as client:
        await client.initialize()
        await client.agent.session_delete(session_id="old")
        await client.agent.session_delete(session_id="old")
        listed = await client.agent.session_list()
    assert [each.session_id for each in listed.sessions] == ["older"]


async def test_methods_that_the_agent_does_not_advertise_are_not_called(their_agent: Command, sdk: str) -> None:
    async with in_session(their_agent) as client:
        with pytest.raises(CapabilityError, match="logout"):
            await client.agent.logout()
        if sdk == "python":
            with pytest.raises(CapabilityError, match="delete"):
                await client.agent.session_delete(session_id="old")


async def test_the_agent_receives_the_content_of_a_form(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("elicit")
    method, request = client.requests[0]
    params = plain(request)
    params["requestedSchema"].setdefault("type", "object")  # the Python SDK omits defaults
    assert (method, params) == ("elicitation/create", {"sessionId": "new", "mode": "form", **SCRIPT["form"]})
    content = {"name": "Ada", "age": 36, "sure": True}
    assert json.loads(client.texts()[0]) == {"action": "accept", "content": content}


async def test_the_client_can_use_extension_methods_of_the_agent(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.agent.ext_notification("_interop/note", {"n": None})
        response = await client.agent.ext_request("_interop/echo", {"x": [1, "é", None]})
    assert response == {
        "method": "_interop/echo",
        "params": {"x": [1, "é", None]},
        "notifications": [["_interop/note", {"n": None}]],
    }


async def test_the_agent_can_use_extension_methods_of_the_client(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("ext")
    assert json.loads(client.texts()[0]) == {
        "method": "_interop/ask",
        "params": {"x": [1, None]},
        "notifications": [["_interop/note", {"n": 1}]],
    }


async def test_the_client_calls_the_agents_extension_methods_with_types(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.agent.notify(NOTE, Note(n=5))
        response = await client.agent.call(ECHO, EchoParams(x=[1, "é", None]))
        assert (response.method, response.params) == ("_interop/echo", {"x": [1, "é", None]})
        assert response.notifications[-1] == ("_interop/note", Note(n=5))
        with pytest.raises(InvalidResponse, match="total: Field required"):
            await client.agent.call(WRONG_ECHO, EchoParams(x=[]))


async def test_the_client_handles_extension_methods_with_types(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("typed")
    total, code, data = json.loads(client.texts()[0])
    assert (total, code) == ({"total": 6}, -32602)
    assert [each["path"] for each in data["errors"]] == ["numbers.1"]
    assert client.notifications == [("_interop/adding", Numbers(sessionId="new", numbers=[1, 2, 3]))]


async def test_an_error_that_the_agent_raises_is_received_unchanged(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        with pytest.raises(RequestError) as raised:
            await client.prompt("error")
        error = raised.value
        assert {"code": error.code, "message": error.message, "data": error.data} == SCRIPT["error"]
        assert isinstance(await client.prompt("stream 1"), PromptResponse)


async def test_an_error_that_the_client_raises_is_received_unchanged(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("read /missing")
    assert json.loads(client.texts()[0]) == SCRIPT["error"]


async def test_an_exception_in_the_agent_is_received_as_an_internal_error(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        with pytest.raises(InternalError):
            await client.prompt("crash")
        assert (await client.prompt("stream 1")).stop_reason == "end_turn"


async def test_an_exception_in_the_client_is_not_disclosed(
    their_agent: Command, caplog: pytest.LogCaptureFixture
) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("read /crash")
    error = json.loads(client.texts()[0])
    assert (error["code"], error["message"], error.get("data")) == (-32603, "Internal error", None)
    assert SCRIPT["secret"] in caplog.text


async def test_an_unknown_method_of_the_agent_is_not_found(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        for method in ("_interop/unknown", "nowhere/to_be_found"):
            with pytest.raises(MethodNotFound):
                await client.agent.ext_request(method, {})


async def test_an_unknown_method_of_the_client_is_not_found(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("unknown")
    assert client.texts() == ["-32601"]


async def test_params_that_the_agent_rejects_are_invalid(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        with pytest.raises(InvalidParams):
            await client.agent.ext_request("session/new", {"cwd": 5})


async def test_params_that_the_client_rejects_are_invalid(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("read not/absolute")
    error = json.loads(client.texts()[0])
    assert (error["code"], error["data"]["errors"][0]["path"]) == (-32602, "path")
    assert client.requests == []
