"""An agent of version 1 behind `as_v2` with the client of version 2 of the TypeScript SDK."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.interop.driver import Driver, PeerError
from tests.interop.sdks import TYPESCRIPT, connected
from tests.support.kit import agent_of_both_versions
from tests.support.kit.behind_v2 import names
from tests.support.skipping import skip_without
from tools.third_party import UnavailableError

pytestmark = [pytest.mark.xdist_group("SDKs"), pytest.mark.slow]

AGENT = [sys.executable, agent_of_both_versions.__file__]
ALLOWED = {"session/request_permission": {"result": {"outcome": {"outcome": "selected", "optionId": "allow_once"}}}}
TURN = ["user_message", "running", "agent_message_chunk"]


@asynccontextmanager
async def session_of() -> AsyncGenerator[tuple[Driver, Any]]:
    """Connect a client with a session. Yield it, and the result of `session/new`."""
    try:
        async with connected(TYPESCRIPT, AGENT, "2") as client:
            await client.set_responses(ALLOWED)
            info = {"name": "theirs", "version": "1"}
            initialized = await client.call("initialize", {"protocolVersion": 2, "info": info, "capabilities": {}})
            assert (initialized["protocolVersion"], initialized["info"]["name"]) == (2, "ours")
            yield client, await client.call("session/new", {"cwd": "/tmp", "mcpServers": []})
    except UnavailableError as reason:
        skip_without("The TypeScript SDK can't be installed", reason)


async def until(client: Driver, kind: str = "state_update") -> list[Any]:
    """Wait until the session is idle, or for an update of a kind. Return the updates so far, and forget the events."""
    while not any(
        update["sessionUpdate"] == kind and update.get("state", "idle") == "idle" for update in client.updates()
    ):
        client.changed.clear()
        await client.changed.wait()
    updates = client.updates()
    client.events.clear()
    return updates


async def test_a_turn_asks_for_permission_and_shows_a_diff() -> None:
    async with session_of() as (client, session):
        accepted = await client.prompt("edit", session=session["sessionId"])
        updates = await until(client)
        assert accepted["messageId"] == updates[0]["messageId"]
        shown = names(updates)
        assert (shown[:3], shown[-1]) == (TURN, "idle end_turn")
        assert [name for name in shown if name in ("requires_action", "running")][1:] == ["requires_action", "running"]
        (diff,) = [item for update in updates for item in update.get("content") or () if "changes" in item]
        assert diff["changes"][0]["path"] == "/tmp/x"
        assert "-old\n+new\n" in diff["patch"]["text"]


async def test_a_cancelled_turn_ends_idle_cancelled() -> None:
    async with session_of() as (client, session):
        await client.prompt("wait", session=session["sessionId"])
        assert names(await until(client, "agent_message_chunk")) == TURN
        await client.notify("session/cancel", {"sessionId": session["sessionId"]})
        assert names(await until(client)) == ["idle cancelled"]


async def test_an_error_after_a_message_ends_the_turn_idle() -> None:
    async with session_of() as (client, session):
        await client.prompt("fail", session=session["sessionId"])
        updates = await until(client)
        assert names(updates) == [*TURN, "idle error"]
        assert updates[-1]["error"]["code"] == -32050


async def test_modes_resuming_listing_and_closing_work() -> None:
    async with session_of() as (client, session):
        id = session["sessionId"]
        assert session["configOptions"][0]["category"] == "mode"
        setting = {"sessionId": id, "configId": "mode", "type": "id", "value": "code"}
        options = (await client.call("session/set_config_option", setting))["configOptions"]
        assert options[0]["currentValue"] == "code"
        assert [listed["sessionId"] for listed in (await client.call("session/list", {}))["sessions"]] == [id]
        await client.call("session/resume", {"sessionId": id, "cwd": "/tmp", "replayFrom": {"type": "start"}})
        replayed = names(await until(client))
        assert replayed == ["user_message_chunk", "agent_message_chunk", "idle"]
        await client.call("session/close", {"sessionId": id})
        with pytest.raises(PeerError):
            await client.prompt("hello", session=id)
