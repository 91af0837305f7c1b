"""Clients written with the official SDKs with our agent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.interop.their_client import RESPONSES, SCRIPT, Command, PeerError, connected, in_session, started

pytestmark = pytest.mark.xdist_group("their clients")

ALLOWED = RESPONSES["session/request_permission"]["result"]["outcome"]
REJECTED = {"outcome": "selected", "optionId": "reject"}


# What a client got before it initialized with another version, and the exit code of the agent when it left, by SDK.
_uninitialized: dict[str, tuple[PeerError, Any, int | None]] = {}


async def uninitialized(their_client: Command, sdk: str) -> tuple[PeerError, Any, int | None]:
    """Return the error of a request before `initialize`, the response to `initialize` with another version, and the
    agent's exit code when the client leaves afterwards.
    """
    if sdk not in _uninitialized:
        async with connected(their_client) as client:
            with pytest.raises(PeerError) as refused:
                await client.call("session/new", {"cwd": "/tmp", "mcpServers": []})
            offered = await client.initialize(version=7)
        _uninitialized[sdk] = refused.value, offered, client.agent_exit_code
    return _uninitialized[sdk]


async def test_initialize_exchanges_version_capabilities_and_info(their_client: Command) -> None:
    async with in_session(their_client) as client:
        response = client.initialized
    assert response["protocolVersion"] == 1
    assert response["agentInfo"] == SCRIPT["agentInfo"]
    assert response["authMethods"] == SCRIPT["authMethods"]
    assert response["agentCapabilities"] == SCRIPT["agentCapabilities"]
    received = response["_meta"]["received"]
    assert received["clientInfo"] == SCRIPT["clientInfo"]
    assert {**received["clientCapabilities"], **SCRIPT["clientCapabilities"]} == received["clientCapabilities"]


async def test_a_client_with_another_protocol_version_is_offered_ours(their_client: Command, sdk: str) -> None:
    _, offered, _ = await uninitialized(their_client, sdk)
    assert offered["protocolVersion"] == 1


async def test_requests_before_initialize_are_refused(their_client: Command, sdk: str) -> None:
    refused, offered, _ = await uninitialized(their_client, sdk)
    assert refused.code == -32600
    assert "agentInfo" in offered


async def test_a_session_can_be_created_only_after_authenticating(their_client: Command) -> None:
    async with connected(their_client, "--auth") as client:
        await client.initialize()
        with pytest.raises(PeerError) as refused:
            await client.call("session/new", {"cwd": "/tmp", "mcpServers": []})
        error = {"code": -32000, "message": "Authentication required", "data": {"methods": ["login"]}}
        assert refused.value.error == error
        with pytest.raises(PeerError) as guessed:
            await client.call("authenticate", {"methodId": "guess"})
        assert guessed.value.code == -32602
        await client.call("authenticate", {"methodId": "login"})
        assert (await client.call("session/new", {"cwd": "/tmp", "mcpServers": []}))["sessionId"] == "new"


async def test_mcp_servers_of_every_transport_are_sent_with_a_new_session(their_client: Command) -> None:
    async with in_session(their_client) as client:
        session = await client.call("session/new", {"cwd": "/tmp", "mcpServers": SCRIPT["mcpServers"]})
    assert session["_meta"]["received"]["cwd"] == "/tmp"
    assert session["_meta"]["received"]["mcpServers"] == SCRIPT["mcpServers"]
    assert session["modes"] == SCRIPT["modes"]
    assert session["configOptions"] == SCRIPT["configOptions"]


async def test_the_history_of_a_loaded_session_arrives_before_the_response(their_client: Command) -> None:
    async with in_session(their_client) as client:
        params = {"cwd": "/tmp", "mcpServers": SCRIPT["mcpServers"]}
        loaded = await client.call("session/load", {"sessionId": "old", **params})
        assert client.updates() == SCRIPT["history"]
        assert loaded["modes"] == SCRIPT["modes"]
        with pytest.raises(PeerError) as missing:
            await client.call("session/load", {"sessionId": "nowhere", **params})
        assert missing.value.error["data"] == {"sessionId": "nowhere"}
        assert missing.value.code == -32002


async def test_updates_arrive_in_order(their_client: Command) -> None:
    async with in_session(their_client) as client:
        turn = await client.prompt("stream 200")
        assert client.texts() == [str(each) for each in range(200)]
    assert turn["stopReason"] == "end_turn"
    assert client.updates()[3]["_meta"] == {"n": 3}


async def test_unknown_fields_are_received_by_the_agent(their_client: Command, sdk: str) -> None:
    async with in_session(their_client) as client:
        await client.prompt("dump", _meta={"deep": {"n": [1, None]}}, tomorrow=[1, None, {"x": "é"}])
    block = json.loads(client.texts()[0])[0]
    assert block["_meta"] == {"deep": {"n": [1, None]}}
    if sdk == "typescript":  # the models of the Python SDK can't hold unknown fields
        assert block["tomorrow"] == [1, None, {"x": "é"}]


async def test_a_prompt_can_have_every_kind_of_content_that_the_agent_accepts(their_client: Command) -> None:
    prompt = [{"type": "text", "text": "dump"}, *SCRIPT["content"]]
    async with in_session(their_client) as client:
        await client.call("session/prompt", {"sessionId": "new", "prompt": prompt})
    assert json.loads(client.texts()[0]) == prompt


@pytest.mark.parametrize(("outcome", "status"), [(ALLOWED, "completed"), (REJECTED, "failed")])
async def test_a_tool_call_continues_with_the_option_that_the_user_selects(
    their_client: Command, outcome: dict[str, str], status: str
) -> None:
    response = {"result": {"outcome": outcome}}
    async with in_session(their_client, {"session/request_permission": response}) as client:
        assert (await client.prompt("permission"))["stopReason"] == "end_turn"
    call, ended, _ = client.updates()
    assert call == SCRIPT["toolCall"]
    assert (ended["toolCallId"], ended["status"]) == ("call-1", status)
    assert json.loads(client.texts()[0]) == outcome
    assert client.requests() == [("session/request_permission", {"sessionId": "new", **SCRIPT["permission"]})]


async def test_cancelling_a_turn_ends_it_during_a_permission_request(their_client: Command) -> None:
    response = {"cancelled": {"outcome": {"outcome": "cancelled"}}}
    async with in_session(their_client, {"session/request_permission": response}) as client:
        turn = asyncio.create_task(client.prompt("permission"))
        await client.until("session/request_permission")
        await client.notify("session/cancel", {"sessionId": "new"})
        assert (await turn)["stopReason"] == "cancelled"
        assert (await client.prompt("stream 1"))["stopReason"] == "end_turn"


async def test_the_agent_receives_a_cancelled_permission(their_client: Command) -> None:
    response = {"result": {"outcome": {"outcome": "cancelled"}}}
    async with in_session(their_client, {"session/request_permission": response}) as client:
        await client.prompt("permission")
    assert json.loads(client.texts()[0]) == {"outcome": "cancelled"}


async def test_a_cancelled_turn_ends_with_the_stop_reason_cancelled(their_client: Command) -> None:
    async with in_session(their_client) as client:
        turn = asyncio.create_task(client.prompt("wait"))
        await client.until("waiting")
        await client.notify("session/cancel", {"sessionId": "new"})
        assert (await turn)["stopReason"] == "cancelled"
        assert (await client.prompt("stream 1"))["stopReason"] == "end_turn"


async def test_a_call_that_the_client_cancels_is_answered_with_request_cancelled(
    their_client: Command, sdk: str
) -> None:
    if sdk == "python":
        pytest.skip("the Python SDK 0.12.1 never sends $/cancel_request")
    async with in_session(their_client) as client:
        turn = asyncio.create_task(client.prompt("wait"))
        await client.until("waiting")
        await client.cancel_call("session/prompt")
        with pytest.raises(PeerError) as cancelled:
            await turn
        assert cancelled.value.code == -32800
        assert (await client.prompt("stream 1"))["stopReason"] == "end_turn"


async def test_the_agent_reads_a_file(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("read /etc/file")
    assert client.texts() == ["second line\n"]
    request = {"sessionId": "new", "path": "/etc/file", "line": 2, "limit": 1}
    assert client.requests() == [("fs/read_text_file", request)]


async def test_the_agent_writes_a_file(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("write /etc/file héllo")
    assert client.texts() == ["written"]
    request = {"sessionId": "new", "path": "/etc/file", "content": "héllo"}
    assert client.requests() == [("fs/write_text_file", request)]


async def test_the_agent_runs_a_terminal_from_create_to_release(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("terminal")
    terminal = {"sessionId": "new", "terminalId": "t-1"}
    others = [(f"terminal/{each}", terminal) for each in ("output", "kill", "wait_for_exit", "release")]
    assert client.requests() == [("terminal/create", {"sessionId": "new", **SCRIPT["terminal"]}), *others]
    output, status = {"output": "making\n", "truncated": True}, {"signal": "SIGKILL"}
    assert json.loads(client.texts()[0]) == ["t-1", output, status]


async def test_the_response_to_setting_a_mode_comes_after_its_update(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.call("session/set_mode", {"sessionId": "new", "modeId": "code"})
        assert client.updates() == [{"sessionUpdate": "current_mode_update", "currentModeId": "code"}]


async def test_a_config_option_can_be_set_to_a_string_or_a_boolean(their_client: Command) -> None:
    async with in_session(their_client) as client:
        method = "session/set_config_option"
        model = await client.call(method, {"sessionId": "new", "configId": "model", "value": "large"})
        assert [each["currentValue"] for each in model["configOptions"]] == ["large", False]
        verbose = {"sessionId": "new", "configId": "verbose"}
        both = await client.call(method, {**verbose, "type": "boolean", "value": True})
        assert [each["currentValue"] for each in both["configOptions"]] == ["large", True]
        with pytest.raises(PeerError) as refused:
            await client.call(method, {**verbose, "value": "yes"})
        assert refused.value.error["data"] == {"configId": "verbose"}
        assert refused.value.code == -32602


async def test_sessions_are_listed_page_by_page(their_client: Command) -> None:
    async with in_session(their_client) as client:
        first = await client.call("session/list", {})
        rest = await client.call("session/list", {"cursor": first["nextCursor"]})
    assert [*first["sessions"], *rest["sessions"]] == SCRIPT["sessions"]
    assert rest.get("nextCursor") is None


async def test_resuming_a_session_does_not_replay_its_history(their_client: Command) -> None:
    async with in_session(their_client) as client:
        resumed = await client.call("session/resume", {"sessionId": "old", "cwd": "/tmp", "mcpServers": []})
    assert resumed["modes"] == SCRIPT["modes"]
    assert client.events == []


async def test_closing_a_missing_session_is_an_error(their_client: Command, sdk: str) -> None:
    async with in_session(their_client) as client:
        await client.call("session/close", {"sessionId": "old"})
        closing = client.call("session/close", {"sessionId": "nowhere"})
        if sdk == "typescript":  # it treats a missing session as closed and hides the error
            assert await closing == {}
            return
        with pytest.raises(PeerError) as missing:
            await closing
        assert missing.value.code == -32002


async def test_a_deleted_session_is_not_listed(their_client: Command, sdk: str) -> None:
    if sdk == "python":
        pytest.skip("the Python SDK 0.12.1 has no call for session/delete")
    async with connected(their_client) as client:
        await client.initialize()
        await client.call("session/delete", {"sessionId": "old"})
        listed = await client.call("session/list", {})
    assert [each["sessionId"] for each in listed["sessions"]] == ["older"]


async def test_the_agent_receives_the_content_of_a_form(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("elicit")
    assert client.requests() == [("elicitation/create", {"sessionId": "new", "mode": "form", **SCRIPT["form"]})]
    assert json.loads(client.texts()[0]) == RESPONSES["elicitation/create"]["result"]


async def test_the_client_can_use_extension_methods_of_the_agent(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.notify("_interop/note", {"n": None})
        response = await client.call("_interop/echo", {"x": [1, "é", None]})
    assert response == {
        "method": "_interop/echo",
        "params": {"x": [1, "é", None]},
        "notifications": [["_interop/note", {"n": None}]],
    }


async def test_the_agent_can_use_extension_methods_of_the_client(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("ext")
    assert client.events[:2] == [("_interop/note", {"n": 1}), ("_interop/ask", {"x": [1, None]})]
    assert json.loads(client.texts()[0]) == {"asked": True}


async def test_the_agent_handles_extension_methods_with_types(their_client: Command) -> None:
    async with in_session(their_client) as client:
        params = {"sessionId": "new", "numbers": [1, 2, 3]}
        await client.notify("_interop/adding", params)
        assert await client.call("_interop/add", params) == {"total": 6}
        with pytest.raises(PeerError) as raised:
            await client.call("_interop/add", {**params, "numbers": [1, "two"]})
        assert raised.value.code == -32602
        assert [each["path"] for each in raised.value.error["data"]["errors"]] == ["numbers.1"]
        response = await client.call("_interop/echo", {})
        assert response["notifications"][-1] == ["_interop/adding", [1, 2, 3]]


async def test_the_agent_calls_the_clients_extension_methods_with_types(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("typed")
    assert client.events[:2] == [("_interop/note", {"n": 1}), ("_interop/ask", {"x": [1, None]})]
    assert json.loads(client.texts()[0]) == {"asked": True}


async def test_an_error_that_the_agent_raises_is_received_unchanged(their_client: Command) -> None:
    async with in_session(their_client) as client:
        with pytest.raises(PeerError) as raised:
            await client.prompt("error")
        assert raised.value.error == SCRIPT["error"]
        assert (await client.prompt("stream 1"))["stopReason"] == "end_turn"


async def test_an_error_that_the_client_raises_is_received_unchanged(their_client: Command) -> None:
    async with in_session(their_client, {"fs/read_text_file": {"error": SCRIPT["error"]}}) as client:
        await client.prompt("read /missing")
    assert json.loads(client.texts()[0]) == SCRIPT["error"]


async def test_an_exception_in_the_agent_is_not_disclosed(their_client: Command, tmp_path: Path) -> None:
    log = tmp_path / "stderr"
    async with started(their_client, stderr=log) as client:
        with pytest.raises(PeerError) as raised:
            await client.prompt("crash")
        assert (await client.prompt("stream 1"))["stopReason"] == "end_turn"
    assert raised.value.code == -32603
    assert SCRIPT["secret"] not in json.dumps(raised.value.error)
    assert SCRIPT["secret"] in log.read_text("utf-8")  # the agent's own log has the traceback


async def test_an_exception_in_the_client_is_received_as_an_internal_error(their_client: Command) -> None:
    async with in_session(their_client, {"fs/read_text_file": {"crash": SCRIPT["secret"]}}) as client:
        await client.prompt("read /crash")
    assert json.loads(client.texts()[0])["code"] == -32603


async def test_an_unknown_method_of_the_agent_is_not_found(their_client: Command, sdk: str) -> None:
    async with in_session(their_client) as client:
        # Clients of the Python SDK can only call known methods and extensions.
        for method in ("_interop/unknown", "nowhere/to_be_found")[: 1 if sdk == "python" else 2]:
            with pytest.raises(PeerError) as missing:
                await client.call(method, {})
            assert missing.value.code == -32601


async def test_an_unknown_method_of_the_client_is_not_found(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("unknown")
    assert client.texts() == ["-32601"]


async def test_params_that_the_agent_rejects_are_invalid(their_client: Command, sdk: str) -> None:
    async with in_session(their_client) as client:
        # Clients of the Python SDK can send a relative path, but not a number as a path.
        for cwd in ("not/absolute", 5)[: 1 if sdk == "python" else 2]:
            with pytest.raises(PeerError) as refused:
                await client.call("session/new", {"cwd": cwd, "mcpServers": []})
            assert refused.value.code == -32602
            assert [each["path"] for each in refused.value.error["data"]["errors"]] == ["cwd"]


async def test_the_agent_exits_with_0_when_its_client_leaves(their_client: Command, sdk: str) -> None:
    _, _, exit_code = await uninitialized(their_client, sdk)
    assert exit_code == 0
