"""Clients written with the official SDKs drive our agent."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.support.interop.their_client import ANSWERS, SCRIPT, Command, PeerError, connected, in_session, started

pytestmark = pytest.mark.xdist_group("their clients")

ALLOWED = ANSWERS["session/request_permission"]["result"]["outcome"]
REJECTED = {"outcome": "selected", "optionId": "reject"}


async def test_initialize_agrees_on_the_version_and_tells_each_side_what_the_other_can(their_client: Command) -> None:
    async with connected(their_client) as client:
        answer = await client.initialize()
    assert answer["protocolVersion"] == 1
    assert answer["agentInfo"] == SCRIPT["agentInfo"]
    assert answer["authMethods"] == SCRIPT["authMethods"]
    assert answer["agentCapabilities"] == SCRIPT["agentCapabilities"]
    heard = answer["_meta"]["heard"]
    assert heard["clientInfo"] == SCRIPT["clientInfo"]
    assert {**heard["clientCapabilities"], **SCRIPT["clientCapabilities"]} == heard["clientCapabilities"]


async def test_a_client_that_wants_another_version_is_offered_ours(their_client: Command) -> None:
    async with connected(their_client) as client:
        assert (await client.initialize(version=7))["protocolVersion"] == 1


async def test_nothing_is_answered_before_initialize(their_client: Command) -> None:
    async with connected(their_client) as client:
        with pytest.raises(PeerError) as refused:
            await client.call("session/new", {"cwd": "/tmp", "mcpServers": []})
        assert refused.value.code == -32600
        assert (await client.initialize())["protocolVersion"] == 1


async def test_an_agent_that_asks_for_it_gives_a_session_only_after_authenticate(their_client: Command) -> None:
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


async def test_a_session_gets_mcp_servers_of_every_transport(their_client: Command) -> None:
    async with in_session(their_client) as client:
        session = await client.call("session/new", {"cwd": "/tmp", "mcpServers": SCRIPT["mcpServers"]})
    assert session["_meta"]["heard"]["cwd"] == "/tmp"
    assert session["_meta"]["heard"]["mcpServers"] == SCRIPT["mcpServers"]
    assert session["modes"] == SCRIPT["modes"]
    assert session["configOptions"] == SCRIPT["configOptions"]


async def test_load_replays_the_whole_conversation_before_it_answers(their_client: Command) -> None:
    async with in_session(their_client) as client:
        params = {"cwd": "/tmp", "mcpServers": SCRIPT["mcpServers"]}
        loaded = await client.call("session/load", {"sessionId": "old", **params})
        assert client.updates() == SCRIPT["history"]
        assert loaded["modes"] == SCRIPT["modes"]
        with pytest.raises(PeerError) as missing:
            await client.call("session/load", {"sessionId": "nowhere", **params})
        assert missing.value.error["data"] == {"sessionId": "nowhere"}
        assert missing.value.code == -32002


async def test_updates_stream_in_order(their_client: Command) -> None:
    async with in_session(their_client) as client:
        turn = await client.prompt("stream 200")
        assert client.texts() == [str(each) for each in range(200)]
    assert turn["stopReason"] == "end_turn"
    assert client.updates()[3]["_meta"] == {"n": 3}


async def test_what_the_schema_does_not_know_arrives_at_the_agent(their_client: Command, sdk: str) -> None:
    async with in_session(their_client) as client:
        await client.prompt("dump", _meta={"deep": {"n": [1, None]}}, tomorrow=[1, None, {"x": "é"}])
    block = json.loads(client.texts()[0])[0]
    assert block["_meta"] == {"deep": {"n": [1, None]}}
    if sdk == "typescript":  # the Python SDK's models can't say what they don't know
        assert block["tomorrow"] == [1, None, {"x": "é"}]


async def test_a_prompt_has_content_of_every_kind_that_the_agent_takes(their_client: Command) -> None:
    prompt = [{"type": "text", "text": "dump"}, *SCRIPT["content"]]
    async with in_session(their_client) as client:
        await client.call("session/prompt", {"sessionId": "new", "prompt": prompt})
    assert json.loads(client.texts()[0]) == prompt


@pytest.mark.parametrize(("outcome", "status"), [(ALLOWED, "completed"), (REJECTED, "failed")])
async def test_a_tool_call_waits_for_the_option_that_the_user_selects(
    their_client: Command, outcome: dict[str, str], status: str
) -> None:
    answer = {"result": {"outcome": outcome}}
    async with in_session(their_client, {"session/request_permission": answer}) as client:
        assert (await client.prompt("permission"))["stopReason"] == "end_turn"
    call, ended, _ = client.updates()
    assert call == SCRIPT["toolCall"]
    assert (ended["toolCallId"], ended["status"]) == ("call-1", status)
    assert json.loads(client.texts()[0]) == outcome
    assert client.asked() == [("session/request_permission", {"sessionId": "new", **SCRIPT["permission"]})]


async def test_cancelling_a_turn_ends_it_while_it_waits_for_a_permission(their_client: Command) -> None:
    answer = {"cancelled": {"outcome": {"outcome": "cancelled"}}}
    async with in_session(their_client, {"session/request_permission": answer}) as client:
        turn = asyncio.create_task(client.prompt("permission"))
        await client.until("session/request_permission")
        await client.notify("session/cancel", {"sessionId": "new"})
        assert (await turn)["stopReason"] == "cancelled"
        assert (await client.prompt("stream 1"))["stopReason"] == "end_turn"


async def test_a_permission_that_the_client_cancels_is_cancelled_for_the_agent(their_client: Command) -> None:
    answer = {"result": {"outcome": {"outcome": "cancelled"}}}
    async with in_session(their_client, {"session/request_permission": answer}) as client:
        await client.prompt("permission")
    assert json.loads(client.texts()[0]) == {"outcome": "cancelled"}


async def test_cancelling_a_turn_ends_it_as_cancelled(their_client: Command) -> None:
    async with in_session(their_client) as client:
        turn = asyncio.create_task(client.prompt("wait"))
        await client.until("waiting")
        await client.notify("session/cancel", {"sessionId": "new"})
        assert (await turn)["stopReason"] == "cancelled"
        assert (await client.prompt("stream 1"))["stopReason"] == "end_turn"


async def test_a_call_that_the_client_gives_up_is_answered_as_cancelled(their_client: Command, sdk: str) -> None:
    if sdk == "python":
        pytest.skip("the Python SDK 0.12.1 never sends $/cancel_request")
    async with in_session(their_client) as client:
        turn = asyncio.create_task(client.prompt("wait"))
        await client.until("waiting")
        await client.give_up("session/prompt")
        with pytest.raises(PeerError) as cancelled:
            await turn
        assert cancelled.value.code == -32800
        assert (await client.prompt("stream 1"))["stopReason"] == "end_turn"


async def test_the_agent_reads_a_file(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("read /etc/file")
    assert client.texts() == ["second line\n"]
    asked = {"sessionId": "new", "path": "/etc/file", "line": 2, "limit": 1}
    assert client.asked() == [("fs/read_text_file", asked)]


async def test_the_agent_writes_a_file(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("write /etc/file héllo")
    assert client.texts() == ["written"]
    asked = {"sessionId": "new", "path": "/etc/file", "content": "héllo"}
    assert client.asked() == [("fs/write_text_file", asked)]


async def test_the_agent_runs_a_terminal_from_create_to_release(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("terminal")
    its = {"sessionId": "new", "terminalId": "t-1"}
    others = [(f"terminal/{each}", its) for each in ("output", "kill", "wait_for_exit", "release")]
    assert client.asked() == [("terminal/create", {"sessionId": "new", **SCRIPT["terminal"]}), *others]
    output, status = {"output": "making\n", "truncated": True}, {"signal": "SIGKILL"}
    assert json.loads(client.texts()[0]) == ["t-1", output, status]


async def test_setting_a_mode_is_answered_after_the_update_that_it_causes(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.call("session/set_mode", {"sessionId": "new", "modeId": "code"})
        assert client.updates() == [{"sessionUpdate": "current_mode_update", "currentModeId": "code"}]


async def test_a_config_option_is_set_to_a_value_or_to_a_boolean(their_client: Command) -> None:
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


async def test_a_session_is_resumed_without_a_replay(their_client: Command) -> None:
    async with in_session(their_client) as client:
        resumed = await client.call("session/resume", {"sessionId": "old", "cwd": "/tmp", "mcpServers": []})
    assert resumed["modes"] == SCRIPT["modes"]
    assert client.events == []


async def test_a_session_is_closed_if_there_is_one(their_client: Command, sdk: str) -> None:
    async with connected(their_client) as client:
        await client.initialize()
        await client.call("session/close", {"sessionId": "old"})
        closing = client.call("session/close", {"sessionId": "nowhere"})
        if sdk == "typescript":  # what is not there is closed, it says, and tells its user nothing of the error
            assert await closing == {}
            return
        with pytest.raises(PeerError) as missing:
            await closing
        assert missing.value.code == -32002


async def test_deleting_a_session_takes_it_off_the_list(their_client: Command, sdk: str) -> None:
    if sdk == "python":
        pytest.skip("the Python SDK 0.12.1 has no call for session/delete")
    async with connected(their_client) as client:
        await client.initialize()
        await client.call("session/delete", {"sessionId": "old"})
        listed = await client.call("session/list", {})
    assert [each["sessionId"] for each in listed["sessions"]] == ["older"]


async def test_a_form_is_filled_in(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("elicit")
    assert client.asked() == [("elicitation/create", {"sessionId": "new", "mode": "form", **SCRIPT["form"]})]
    assert json.loads(client.texts()[0]) == ANSWERS["elicitation/create"]["result"]


async def test_the_client_calls_and_notifies_by_methods_that_the_schema_does_not_know(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.notify("_interop/note", {"n": None})
        answer = await client.call("_interop/echo", {"x": [1, "é", None]})
    assert answer == {
        "method": "_interop/echo",
        "params": {"x": [1, "é", None]},
        "noted": [["_interop/note", {"n": None}]],
    }


async def test_the_agent_calls_and_notifies_by_methods_that_the_schema_does_not_know(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("ext")
    assert client.events[:2] == [("_interop/note", {"n": 1}), ("_interop/ask", {"x": [1, None]})]
    assert json.loads(client.texts()[0]) == {"asked": True}


async def test_an_error_of_the_agent_arrives_as_it_was_raised(their_client: Command) -> None:
    async with in_session(their_client) as client:
        with pytest.raises(PeerError) as raised:
            await client.prompt("error")
        assert raised.value.error == SCRIPT["error"]
        assert (await client.prompt("stream 1"))["stopReason"] == "end_turn"


async def test_an_error_of_the_client_arrives_as_it_was_raised(their_client: Command) -> None:
    async with in_session(their_client, {"fs/read_text_file": {"error": SCRIPT["error"]}}) as client:
        await client.prompt("read /missing")
    assert json.loads(client.texts()[0]) == SCRIPT["error"]


async def test_an_agent_that_crashes_discloses_nothing(
    their_client: Command, capfd: pytest.CaptureFixture[str]
) -> None:
    async with started(their_client) as client:
        with pytest.raises(PeerError) as raised:
            await client.prompt("crash")
        assert (await client.prompt("stream 1"))["stopReason"] == "end_turn"
    assert raised.value.code == -32603
    assert SCRIPT["secret"] not in json.dumps(raised.value.error)
    assert SCRIPT["secret"] in capfd.readouterr().err  # the log is for whoever runs the agent


async def test_a_client_that_crashes_is_an_internal_error(their_client: Command) -> None:
    async with in_session(their_client, {"fs/read_text_file": {"crash": SCRIPT["secret"]}}) as client:
        await client.prompt("read /crash")
    assert json.loads(client.texts()[0])["code"] == -32603


async def test_a_method_that_the_agent_does_not_have_is_not_found(their_client: Command, sdk: str) -> None:
    async with in_session(their_client) as client:
        # The Python SDK's clients can call no other methods than those they know and extensions.
        for method in ("_interop/unknown", "nowhere/to_be_found")[: 1 if sdk == "python" else 2]:
            with pytest.raises(PeerError) as missing:
                await client.call(method, {})
            assert missing.value.code == -32601


async def test_a_method_that_the_client_does_not_have_is_not_found(their_client: Command) -> None:
    async with in_session(their_client) as client:
        await client.prompt("unknown")
    assert client.texts() == ["-32601"]


async def test_params_that_the_agent_does_not_accept_are_invalid(their_client: Command, sdk: str) -> None:
    async with in_session(their_client) as client:
        # The Python SDK's clients send no number for a path, but a relative one.
        for cwd in ("not/absolute", 5)[: 1 if sdk == "python" else 2]:
            with pytest.raises(PeerError) as refused:
                await client.call("session/new", {"cwd": cwd, "mcpServers": []})
            assert refused.value.code == -32602
            assert [each["path"] for each in refused.value.error["data"]["errors"]] == ["cwd"]


async def test_the_agent_ends_well_when_its_client_leaves(their_client: Command) -> None:
    async with connected(their_client) as client:
        await client.initialize()
    assert client.agent_exit_code == 0
