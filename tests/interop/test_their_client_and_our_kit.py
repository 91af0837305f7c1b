"""Clients written with the official SDKs with an agent that is written with acp_kit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.interop import sdks
from tests.interop.driver import Driver, PeerError

pytestmark = pytest.mark.xdist_group("SDKs")

REJECTED = {"result": {"outcome": {"outcome": "selected", "optionId": "reject_once"}}}
ALLOWED = {"result": {"outcome": {"outcome": "selected", "optionId": "allow_once"}}}


@asynccontextmanager
async def in_session(sdk: str, responses: dict[str, Any] | None = None) -> AsyncIterator[Driver]:
    async with sdks.in_session(sdk, sdks.command(sdks.OURS, "kit_agent")) as client:
        client.events.clear()
        await client.set_responses(responses or {})
        yield client


def kinds(client: Driver) -> list[str]:
    return [update["sessionUpdate"] for update in client.updates()]


def statuses(client: Driver) -> list[str]:
    return [update["status"] for update in client.updates() if update["sessionUpdate"].startswith("tool_call")]


@pytest.mark.parametrize(("answer", "said"), [(ALLOWED, "edited"), (REJECTED, "rejected")])
async def test_a_permission_asked_by_the_kit_is_answered_by_their_client(
    answer: dict[str, Any], said: str, sdk: str
) -> None:
    responses = {"session/request_permission": answer}
    async with in_session(sdk, responses) as client:
        assert (await client.prompt("edit"))["stopReason"] == "end_turn"
        methods = [method for method, _ in client.requests()]
        wrote = ["fs/write_text_file"] if said == "edited" else []
        assert methods == ["fs/read_text_file", "session/request_permission", *wrote]
        read, asked, *_ = [params for _, params in client.requests()]
        assert (read["path"], read["line"], read["limit"]) == ("/tmp/file", 2, 1)
        assert asked["toolCall"]["content"][0]["newText"] == "new\n"
        assert [option["kind"] for option in asked["options"]] == [
            "allow_once",
            "allow_always",
            "reject_once",
            "reject_always",
        ]
        assert statuses(client)[-1] == ("completed" if wrote else "failed")
        assert client.texts() == [said]


async def test_a_dialog_that_their_user_closed_ends_the_turn_as_cancelled(sdk: str) -> None:
    responses = {"session/request_permission": {"result": {"outcome": {"outcome": "cancelled"}}}}
    async with in_session(sdk, responses) as client:
        assert (await client.prompt("edit"))["stopReason"] == "cancelled"
        assert statuses(client)[-1] == "failed"


async def test_a_turn_cancelled_while_their_dialog_is_open_is_answered_cancelled(sdk: str) -> None:
    responses = {"session/request_permission": {"cancelled": {"outcome": {"outcome": "cancelled"}}}}
    async with in_session(sdk, responses) as client:
        prompt = asyncio.create_task(client.prompt("edit"))
        await client.until("session/request_permission")
        await client.notify("session/cancel", {"sessionId": "new"})
        assert (await prompt)["stopReason"] == "cancelled"
        assert statuses(client)[-1] == "failed"


async def test_a_command_runs_in_a_terminal_of_their_client_and_is_released(sdk: str) -> None:
    async with in_session(sdk) as client:
        await client.prompt("run")
        methods = [method for method, _ in client.requests()]
        assert methods == ["terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release"]
        created = client.requests()[0][1]
        assert (created["command"], created["args"], created["cwd"]) == ("make", ["-s"], "/tmp")
        assert (created["env"], created["outputByteLimit"]) == ([{"name": "CC", "value": "cc"}], 1000)
        assert client.texts() == ["making None SIGKILL True"]
        shown = [update for update in client.updates() if update.get("content") and "toolCallId" in update]
        assert shown[0]["content"] == [{"type": "terminal", "terminalId": "t-1"}]


async def test_a_cancelled_turn_ends_its_tool_call(sdk: str) -> None:
    async with in_session(sdk) as client:
        prompt = asyncio.create_task(client.prompt("wait"))
        await client.until("waiting")
        await client.notify("session/cancel", {"sessionId": "new"})
        assert (await prompt)["stopReason"] == "cancelled"
        assert statuses(client) == ["in_progress", "failed"]


async def test_their_client_sees_thoughts_plan_and_message_and_again_when_it_loads(sdk: str) -> None:
    async with in_session(sdk) as client:
        await client.prompt("work")
        assert kinds(client) == ["agent_thought_chunk", "plan", *["agent_message_chunk"] * 3]
        client.events.clear()
        await client.call("session/load", {"sessionId": "new", "cwd": "/tmp", "mcpServers": []})
        assert "It is done." in client.texts()
        assert {"user_message_chunk", "agent_thought_chunk", "plan"} <= {*kinds(client)}


async def test_their_client_sets_modes_and_options(sdk: str) -> None:
    async with in_session(sdk) as client:
        await client.call("session/set_mode", {"sessionId": "new", "modeId": "code"})
        params = {"sessionId": "new", "configId": "model", "value": "large"}
        answer = await client.call("session/set_config_option", params)
        values = {option["id"]: option["currentValue"] for option in answer["configOptions"]}
        assert values == {"mode": "code", "model": "large", "verbose": False}
        with pytest.raises(PeerError) as refused:
            await client.call("session/set_mode", {"sessionId": "new", "modeId": "fly"})
        assert refused.value.code == -32602
        await client.call("session/set_mode", {"sessionId": "new", "modeId": "ask"})


async def test_their_client_runs_a_slash_command(sdk: str) -> None:
    async with in_session(sdk) as client:
        await client.prompt("/shout hello there")
        assert client.texts() == ["HELLO THERE"]
