"""Our client drives agents written with the official SDKs."""

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
    MethodNotFound,
    ProtocolVersionMismatch,
    RequestError,
    ResourceNotFound,
)
from tests.support.interop.our_client import SCRIPT, connected, content, in_session, mcp_servers, plain
from tests.support.interop.their_client import Command

pytestmark = pytest.mark.xdist_group("their agents")

NO_DELETE = "the Python SDK 0.12.1 has no handler for session/delete"


async def test_initialize_agrees_on_the_version_and_tells_each_side_what_the_other_can(
    their_agent: Command, sdk: str
) -> None:
    async with connected(their_agent) as client:
        answer = plain(await client.initialize())
    assert answer["protocolVersion"] == 1
    assert answer["agentInfo"] == SCRIPT["agentInfo"]
    assert answer["authMethods"] == SCRIPT["authMethods"]
    capabilities = answer["agentCapabilities"]
    if sdk == "python":
        capabilities["sessionCapabilities"]["delete"] = {}
    assert capabilities == SCRIPT["agentCapabilities"]
    heard = answer["_meta"]["heard"]["clientCapabilities"]
    assert {**heard, **SCRIPT["clientCapabilities"]} == heard  # the TypeScript SDK fills in defaults
    assert answer["_meta"]["heard"]["clientInfo"] == SCRIPT["clientInfo"]


async def test_an_agent_that_wants_another_version_is_refused(their_agent: Command) -> None:
    async with connected(their_agent, "--version-7") as client:
        with pytest.raises(ProtocolVersionMismatch) as refused:
            await client.initialize()
    assert refused.value.offered == 7


async def test_an_agent_that_asks_for_it_gives_a_session_only_after_authenticate(their_agent: Command) -> None:
    async with connected(their_agent, "--auth") as client:
        await client.initialize()
        with pytest.raises(AuthenticationRequired) as refused:
            await client.agent.session_new(cwd="/tmp", mcp_servers=[])
        assert (refused.value.code, refused.value.data) == (-32000, {"methods": ["login"]})
        with pytest.raises(InvalidParams):
            await client.agent.authenticate(method_id="guess")
        await client.agent.authenticate(method_id="login")
        assert (await client.agent.session_new(cwd="/tmp", mcp_servers=[])).session_id == "new"


async def test_a_session_gets_mcp_servers_of_every_transport(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        session = await client.agent.session_new(cwd="/tmp", mcp_servers=mcp_servers())
    assert session.meta is not None
    assert session.meta["heard"]["mcpServers"] == SCRIPT["mcpServers"]
    assert session.meta["heard"]["cwd"] == "/tmp"
    assert plain(session)["modes"] == SCRIPT["modes"]
    assert plain(session)["configOptions"] == SCRIPT["configOptions"]


async def test_load_replays_the_whole_conversation_before_it_answers(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        loaded = await client.agent.session_load(session_id="old", cwd="/tmp", mcp_servers=mcp_servers())
        assert [plain(each.update) for each in client.updates] == SCRIPT["history"]
        assert {each.session_id for each in client.updates} == {"old"}
        assert plain(loaded)["modes"] == SCRIPT["modes"]
        with pytest.raises(ResourceNotFound):
            await client.agent.session_load(session_id="nowhere", cwd="/tmp", mcp_servers=[])


async def test_updates_stream_in_order_and_keep_what_the_schema_does_not_know(their_agent: Command, sdk: str) -> None:
    async with in_session(their_agent) as client:
        turn = await client.prompt("stream 200")
        assert client.texts() == [str(each) for each in range(200)]
    assert plain(turn) == {"stopReason": "end_turn", "future": {"deep": [1, None]}}
    third = plain(client.updates[3].update)
    assert third["_meta"] == {"n": 3}
    if sdk == "typescript":  # the Python SDK's models can't say what they don't know
        assert third["tomorrow"] == [3]
        assert third["content"] == {"type": "text", "text": "3", "future": 3}


async def test_a_prompt_has_content_of_every_kind_that_the_agent_takes(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("dump", *content())
    assert json.loads(client.texts()[0]) == [{"type": "text", "text": "dump"}, *SCRIPT["content"]]


@pytest.mark.parametrize(("selected", "status"), [("allow", "completed"), ("reject", "failed")])
async def test_a_tool_call_waits_for_the_option_that_the_user_selects(
    their_agent: Command, selected: str, status: str
) -> None:
    async with in_session(their_agent) as client:
        client.allows = selected
        await client.prompt("permission")
    call, ended, said = (plain(each.update) for each in client.updates)
    assert call == SCRIPT["toolCall"]
    assert ended["status"] == status
    assert json.loads(said["content"]["text"]) == {"outcome": "selected", "optionId": selected}
    method, asked = client.asked[0]
    assert method == "session/request_permission"
    assert plain(asked) == {"sessionId": "new", **SCRIPT["permission"]}
    assert isinstance(asked.tool_call, ToolCallUpdate)


async def test_cancelling_a_turn_cancels_the_permission_that_it_waits_for(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        client.allows = None
        turn = asyncio.create_task(client.prompt("permission"))
        await client.until("session/request_permission")
        await client.agent.session_cancel(session_id="new")
        assert (await turn).stop_reason == "cancelled"
    assert [json.loads(each) for each in client.texts()] == [{"outcome": "cancelled"}]


async def test_cancelling_a_turn_ends_it_as_cancelled(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        turn = asyncio.create_task(client.prompt("wait"))
        await client.until("waiting")
        await client.agent.session_cancel(session_id="new")
        assert (await turn).stop_reason == "cancelled"
        assert (await client.prompt("stream 1")).stop_reason == "end_turn"


async def test_a_cancelled_prompt_ends_the_turn_at_the_agent_and_the_next_one_runs(their_agent: Command) -> None:
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
    method, asked = client.asked[0]
    assert (method, plain(asked)) == (
        "fs/read_text_file",
        {"sessionId": "new", "path": "/etc/file", "line": 2, "limit": 1},
    )


async def test_the_agent_writes_a_file(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("write /etc/file héllo\u2028")
    assert client.texts() == ["written"]
    method, asked = client.asked[0]
    assert (method, plain(asked)["path"]) == ("fs/write_text_file", "/etc/file")
    assert plain(asked)["content"].startswith("héllo")


async def test_the_agent_runs_a_terminal_from_create_to_release(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("terminal")
    methods = [method for method, _ in client.asked]
    assert methods == [f"terminal/{each}" for each in ("create", "output", "kill", "wait_for_exit", "release")]
    created, *others = (plain(asked) for _, asked in client.asked)
    assert created == {"sessionId": "new", **SCRIPT["terminal"]}
    assert others == [{"sessionId": "new", "terminalId": "t-1"}] * 4
    output, status = {"output": "making\n", "truncated": True}, {"signal": "SIGKILL"}
    assert json.loads(client.texts()[0]) == ["t-1", output, status]


async def test_setting_a_mode_is_answered_after_the_update_that_it_causes(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.agent.session_set_mode(session_id="new", mode_id="code")
        assert [plain(each.update) for each in client.updates] == [
            {"sessionUpdate": "current_mode_update", "currentModeId": "code"}
        ]


async def test_a_config_option_is_set_to_a_value_or_to_a_boolean(their_agent: Command) -> None:
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


async def test_a_session_is_resumed_without_a_replay(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        resumed = await client.agent.session_resume(session_id="old", cwd="/tmp")
        assert plain(resumed)["modes"] == SCRIPT["modes"]
        with pytest.raises(ResourceNotFound):
            await client.agent.session_resume(session_id="nowhere", cwd="/tmp")
    assert client.updates == []


async def test_closing_a_session_succeeds_even_where_there_is_none(their_agent: Command) -> None:
    async with connected(their_agent) as client:
        await client.initialize()
        await client.agent.session_close(session_id="old")
        await client.agent.session_close(session_id="nowhere")


async def test_deleting_a_session_takes_it_off_the_list(their_agent: Command, sdk: str) -> None:
    if sdk == "python":
        pytest.skip(NO_DELETE)
    async with connected(their_agent) as client:
        await client.initialize()
        await client.agent.session_delete(session_id="old")
        await client.agent.session_delete(session_id="old")
        listed = await client.agent.session_list()
    assert [each.session_id for each in listed.sessions] == ["older"]


async def test_what_an_agent_does_not_advertise_is_not_called(their_agent: Command, sdk: str) -> None:
    async with in_session(their_agent) as client:
        with pytest.raises(CapabilityError, match="logout"):
            await client.agent.logout()
        if sdk == "python":
            with pytest.raises(CapabilityError, match="delete"):
                await client.agent.session_delete(session_id="old")


async def test_a_form_is_filled_in(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("elicit")
    method, asked = client.asked[0]
    params = plain(asked)
    params["requestedSchema"].setdefault("type", "object")  # the Python SDK leaves out what is a default
    assert (method, params) == ("elicitation/create", {"sessionId": "new", "mode": "form", **SCRIPT["form"]})
    content = {"name": "Ada", "age": 36, "sure": True}
    assert json.loads(client.texts()[0]) == {"action": "accept", "content": content}


async def test_the_client_calls_and_notifies_by_methods_that_the_schema_does_not_know(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.agent.ext_notification("_interop/note", {"n": None})
        answer = await client.agent.ext_request("_interop/echo", {"x": [1, "é", None]})
    assert answer == {
        "method": "_interop/echo",
        "params": {"x": [1, "é", None]},
        "noted": [["_interop/note", {"n": None}]],
    }


async def test_the_agent_calls_and_notifies_by_methods_that_the_schema_does_not_know(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("ext")
    assert json.loads(client.texts()[0]) == {
        "method": "_interop/ask",
        "params": {"x": [1, None]},
        "noted": [["_interop/note", {"n": 1}]],
    }


async def test_an_error_of_the_agent_arrives_as_it_was_raised(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        with pytest.raises(RequestError) as raised:
            await client.prompt("error")
        error = raised.value
        assert {"code": error.code, "message": error.message, "data": error.data} == SCRIPT["error"]
        assert isinstance(await client.prompt("stream 1"), PromptResponse)


async def test_an_error_of_the_client_arrives_as_it_was_raised(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("read /missing")
    assert json.loads(client.texts()[0]) == SCRIPT["error"]


async def test_an_agent_that_crashes_is_an_internal_error(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        with pytest.raises(InternalError):
            await client.prompt("crash")
        assert (await client.prompt("stream 1")).stop_reason == "end_turn"


async def test_a_client_that_crashes_discloses_nothing(their_agent: Command, caplog: pytest.LogCaptureFixture) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("read /crash")
    error = json.loads(client.texts()[0])
    assert (error["code"], error["message"], error.get("data")) == (-32603, "Internal error", None)
    assert SCRIPT["secret"] in caplog.text


async def test_a_method_that_the_agent_does_not_have_is_not_found(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        for method in ("_interop/unknown", "nowhere/to_be_found"):
            with pytest.raises(MethodNotFound):
                await client.agent.ext_request(method, {})


async def test_a_method_that_the_client_does_not_have_is_not_found(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("unknown")
    assert client.texts() == ["-32601"]


async def test_params_that_the_agent_does_not_accept_are_invalid(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        with pytest.raises(InvalidParams):
            await client.agent.ext_request("session/new", {"cwd": 5})


async def test_params_that_the_client_does_not_accept_are_invalid(their_agent: Command) -> None:
    async with in_session(their_agent) as client:
        await client.prompt("read not/absolute")
    error = json.loads(client.texts()[0])
    assert (error["code"], error["data"]["errors"][0]["path"]) == (-32602, "path")
    assert client.asked == []
