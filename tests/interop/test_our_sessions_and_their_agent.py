"""Sessions of acp_kit with agents written with the official SDKs."""

from __future__ import annotations

import json

import pytest

from acp_kit.client import open_session
from tests.interop.contract import ASK, says
from tests.interop.driver import SCRIPT
from tests.interop.our_driver import OurDriver
from tests.interop.sdks import command

pytestmark = pytest.mark.xdist_group("SDKs")

CALL = {"notify": "session/update", "params": {"update": SCRIPT["toolCall"]}}


async def test_our_sessions_follow_their_agent(sdk: str) -> None:
    async with OurDriver.connected(command(sdk, "agent")) as client:
        await client.initialize()
        await client.set_responses({})
        async with open_session(client.agent, cwd="/tmp") as session:
            assert session.state.current_mode_id == SCRIPT["modes"]["currentModeId"]
            assert [option.id for option in session.state.config_options] == ["model", "verbose"]
            async with session.prompt(json.dumps([says(str(number)) for number in range(200)])) as turn:
                read = [update async for update in turn]
            assert turn.stop_reason == "end_turn"
            assert session.state.text == "".join(map(str, range(200)))
            assert 1 <= len(read) <= 200

            async with session.prompt(json.dumps([CALL, ASK])) as turn:
                await turn.wait()
            (call,) = session.state.tool_calls.values()
            assert (call.title, call.kind) == ("Edit a file", "edit")
            await session.set_mode("code")
            assert session.state.current_mode_id == "code"
            options = await session.set_config_option("verbose", True)
            assert {option.id: option.current_value for option in options}["verbose"] is True

            async with session.prompt(json.dumps([says("waiting"), {"wait": True}])) as turn:
                async for _ in turn:  # the turn is cancelled when the block is left early
                    break
            assert turn.stop_reason == "cancelled"

        async with open_session(client.agent, cwd="/tmp", load="old") as session:
            kinds = [update["sessionUpdate"] for update in SCRIPT["history"]]
            assert len(session.state.messages) == sum(kind.endswith("_chunk") for kind in kinds)
            assert [*session.state.tool_calls] == ["old-1"]
