"""Sessions of acp_kit with agents written with the official SDKs."""

from __future__ import annotations

import pytest

from acp_kit.client import open_session
from tests.support.interop.our_client import SCRIPT, initialized
from tests.support.interop.their_client import Command

pytestmark = pytest.mark.xdist_group("their agents")


async def test_their_updates_fill_our_state(their_agent: Command) -> None:
    async with initialized(their_agent) as client, open_session(client.agent, cwd="/tmp") as session:
        assert session.state.current_mode_id == SCRIPT["modes"]["currentModeId"]
        assert [option.id for option in session.state.config_options] == ["model", "verbose"]
        async with session.prompt("stream 200") as turn:
            read = [update async for update in turn]
        assert turn.stop_reason == "end_turn"
        assert session.state.text == "".join(map(str, range(200)))
        assert 1 <= len(read) <= 200

        async with session.prompt("permission") as turn:
            await turn.wait()
        (call,) = session.state.tool_calls.values()
        assert (call.title, call.kind, call.status) == ("Edit a file", "edit", "completed")
        await session.set_mode("code")
        assert session.state.current_mode_id == "code"
        options = await session.set_config_option("verbose", True)
        assert {option.id: option.current_value for option in options}["verbose"] is True


async def test_their_turn_is_cancelled_when_the_block_is_left_early(their_agent: Command) -> None:
    async with initialized(their_agent) as client, open_session(client.agent, cwd="/tmp") as session:
        async with session.prompt("wait") as turn:
            async for _ in turn:
                break
        assert turn.stop_reason == "cancelled"
        async with session.prompt("stream 3") as turn:
            await turn.wait()
        assert session.state.text.endswith("012")


async def test_their_history_fills_our_state(their_agent: Command) -> None:
    async with initialized(their_agent) as client, open_session(client.agent, cwd="/tmp", load="old") as session:
        kinds = [update["sessionUpdate"] for update in SCRIPT["history"]]
        assert len(session.state.messages) == sum(kind.endswith("_chunk") for kind in kinds)
        assert [*session.state.tool_calls] == ["old-1"]
