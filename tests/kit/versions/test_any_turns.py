"""Prompts, cancellations and an agent's behaviour in any order keep the rules of turns in version 2."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from acp_bindings import v1
from acp_runtime import RequestError
from tests.support.kit.behind_v2 import CANCEL, PROMPT, AgentV1, names, request, session_of
from tests.support.runtime.peer import Peer, chunk
from tests.support.scale import count

YES = [v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]


class Random(AgentV1):
    """An agent whose turns do anything."""

    generator: random.Random

    async def work(self, session: str) -> None:
        for _ in range(self.generator.randrange(4)):
            match self.generator.randrange(6):
                case 0:
                    raise RequestError(-32050, "failed")
                case 1:
                    await asyncio.sleep(0)
                case 2:
                    call = v1.ToolCallUpdate(tool_call_id="1")
                    await self.client.session_request_permission(session_id=session, tool_call=call, options=YES)
                case 3:
                    await asyncio.sleep(self.generator.choice((0.001, 0.12)))
                case _:
                    await self.send(session, chunk("x"))


async def act(peer: Peer, generator: random.Random, prompts: int) -> list[Any]:
    """Send prompts and cancellations, answer permissions, and return everything that was received."""
    received: list[Any] = []
    sent = 0
    while sent < prompts or sum("id" in message and "method" not in message for message in received) < prompts:
        if sent < prompts and generator.random() < 0.5:
            sent += 1
            await peer.send(request(sent, "session/prompt", prompt=PROMPT))
            if generator.random() < 0.3:
                await peer.send({"method": "$/cancel_request", "params": {"requestId": generator.randint(1, sent)}})
            if generator.random() < 0.3:
                await peer.send(CANCEL)
        else:
            received += await peer.until_quiet()
        for message in received:
            if message.get("method") == "session/request_permission" and not message.get("answered"):
                message["answered"] = True
                outcome = {"outcome": "selected", "optionId": "yes"}
                await peer.send({"id": message["id"], "result": {"outcome": outcome}})
        await asyncio.sleep(generator.choice((0, 0, 0.01)))
    return received


def check(messages: list[Any]) -> None:
    """Check the order of the updates of the turns of a session."""
    accepted = [m["result"]["messageId"] for m in messages if "result" in m and "messageId" in m["result"]]
    updates = [m["params"]["update"] for m in messages if m.get("method") == "session/update"]
    shown = [update["messageId"] for update in updates if update["sessionUpdate"] == "user_message"]
    assert sorted(shown) == sorted(accepted)
    state = "idle"
    expected = {"idle": {"user_message"}, "user_message": {"running"}}
    for update, name in zip(updates, names(updates), strict=True):
        now = name.split()[0]
        if now in ("user_message", "running", "requires_action", "idle"):
            assert now in expected.get(state, {"requires_action", "running", "idle"}), names(updates)
            assert now != state, names(updates)
            state = now
        else:
            assert state != "user_message", update


@pytest.mark.parametrize("seed", range(count(8, 500)))
async def test_each_accepted_prompt_is_reported_and_ends_in_idle(seed: int) -> None:
    generator = random.Random(seed)
    agent = type("Seeded", (Random,), {"generator": generator})
    async with session_of(agent) as peer:
        messages = await act(peer, generator, 6)
        async with asyncio.timeout(20):
            while True:
                updates = [m["params"]["update"] for m in messages if m.get("method") == "session/update"]
                states = [update["state"] for update in updates if "state" in update]
                if not states or states[-1] == "idle":
                    break
                await peer.send(CANCEL)
                messages += await peer.until_quiet()
        check(messages)
        (response,) = [m for m in [await peer.call("session/list", {})] if "result" in m]
        assert len(response["result"]["sessions"]) == 1
