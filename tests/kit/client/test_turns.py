"""A turn can be used only inside of its block, and whatever ends it, the session can go on."""

from __future__ import annotations

import asyncio
import gc
from typing import Any, cast

import pytest

from acp_bindings.v1 import Client, ContentBlockImage, RemoteAgent, RequestPermissionRequest, connect_in_process
from acp_kit.agent import Turn
from acp_kit.client import PermissionHandlers, PermissionPolicy, UpdateHandlers, open_session
from acp_runtime import CapabilityError, ResourceNotFound
from tests.support.kit.turns import ActingAgent
from tests.support.runtime.peer import LINKS, calling, update


class DeliveringClient(UpdateHandlers, Client):
    """Passes updates on to the open sessions."""

    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent

    async def session_request_permission(self, request: Any) -> Any: ...


def connected(*acts: Any) -> Any:
    return connect_in_process(lambda client: ActingAgent(client, [*acts], []), DeliveringClient)


async def says_hello(turn: Turn) -> None:
    await turn.say("hello")


async def waits(turn: Turn) -> None:
    await asyncio.Event().wait()


async def fails(turn: Turn) -> None:
    await turn.say("hello")
    raise ResourceNotFound("gone")


async def test_a_prompt_that_a_guard_refuses_leaves_nothing_behind() -> None:
    async with connected(says_hello) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/work") as session:
            with pytest.raises(CapabilityError):
                async with session.prompt(ContentBlockImage(data="", mime_type="image/png")) as turn:
                    await turn.wait()
            async with session.prompt("again") as turn:
                await turn.wait()
            assert session.state.text == "hello"


async def test_a_turn_is_used_only_inside_of_its_block() -> None:
    async with connected(says_hello) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/work") as session:
            turn = session.prompt("hello")
            with pytest.raises(RuntimeError, match="async with"):
                await anext(turn)
            with pytest.raises(RuntimeError, match="async with"):
                await turn.wait()
            async with turn:
                await turn.wait()
            with pytest.raises(RuntimeError, match="once"):
                async with turn:
                    pass
            assert [update.session_update async for update in turn] == ["agent_message_chunk"]


async def test_the_updates_of_a_turn_without_response_can_be_read_later() -> None:
    released = asyncio.Event()

    async def goes_on(turn: Turn) -> None:
        await turn.say("begun")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await released.wait()
            raise

    async with connected(goes_on) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/work") as session:
            async with session.prompt("hello", cancel_deadline=0) as turn:
                while not session.state.text:
                    await asyncio.sleep(0)
            assert [update.session_update async for update in turn] == ["agent_message_chunk"]
            with pytest.raises(RuntimeError, match="no response"):
                await turn.wait()
            released.set()


async def test_an_exception_of_the_block_hides_the_error_of_the_prompt_without_a_warning() -> None:
    unseen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
    async with connected(fails) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/work") as session:
            turn = session.prompt("hello")
            with pytest.raises(ZeroDivisionError):
                async with turn:
                    while not turn.ended:
                        await asyncio.sleep(0)
                    raise ZeroDivisionError
    del session, turn
    gc.collect()
    await asyncio.sleep(0)
    assert unseen == []


class AskingClient(UpdateHandlers, PermissionHandlers, Client):
    """Keeps the order in which its user sees updates and questions."""

    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent
        self.permissions = PermissionPolicy(ask=self.ask)
        self.shown: list[str] = []

    async def ask(self, request: RequestPermissionRequest) -> str:
        self.shown.append(f"may it {request.tool_call.title}?")
        return "allow_once"


async def asks_twice(turn: Turn) -> None:
    for title in ("read", "write"):
        await turn.say(title)
        async with turn.tool_call(title) as call:
            await call.ask()


async def test_a_question_is_asked_after_a_loop_has_read_the_updates_before_it() -> None:
    async with connect_in_process(lambda client: ActingAgent(client, [asks_twice], []), AskingClient) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/work") as session, session.prompt("go") as turn:
            client = cast("AskingClient", agent.handler)
            async for update in turn:
                client.shown.append(update.session_update)
    chunk, call, change = "agent_message_chunk", "tool_call", "tool_call_update"
    assert client.shown == [
        *(chunk, call, "may it read?", change, change),
        *(chunk, call, "may it write?", change, change),
    ]


async def test_a_question_does_not_wait_for_a_loop_that_waits_for_the_agent() -> None:
    async with connect_in_process(lambda client: ActingAgent(client, [asks_twice], []), AskingClient) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/work") as session, session.prompt("go") as turn:
            async for _ in turn:
                await turn.wait()
    assert cast("AskingClient", agent.handler).shown == ["may it read?", "may it write?"]


async def test_a_session_can_not_be_prompted_after_its_block() -> None:
    async with connected(says_hello) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/work") as session:
            turn = session.prompt("hello")
        with pytest.raises(RuntimeError, match="closed"):
            async with turn:
                pass


async def test_all_updates_are_read_before_the_error_of_a_prompt() -> None:
    async with connected(fails) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/work") as session:
            read: list[Any] = []
            with pytest.raises(ResourceNotFound):
                async with session.prompt("hello") as turn:
                    while not turn.ended:
                        await asyncio.sleep(0)
                    async for update in turn:
                        read.append(update)
            assert [update.content.text for update in read] == ["hello"]


async def test_a_turn_that_is_left_or_cancelled_at_once_is_cancelled() -> None:
    async with connected(waits, waits) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/work") as session:
            async with session.prompt("left") as left:
                pass
            async with session.prompt("cancelled") as cancelled:
                await cancelled.cancel()
                await cancelled.wait()
    assert (left.stop_reason, cancelled.stop_reason) == ("cancelled", "cancelled")


async def test_a_late_cancel_does_not_cancel_the_next_turn() -> None:
    async with connected(says_hello, says_hello) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/work") as session:
            async with session.prompt("hello") as first:
                await first.wait()
            async with session.prompt("again") as second:
                await first.cancel()
                await second.wait()
    assert second.stop_reason == "end_turn"


async def test_a_prompt_that_is_no_content_leaves_the_session_usable() -> None:
    async with connected(says_hello) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/work") as session:
            with pytest.raises(ValueError, match="content"):
                async with session.prompt([1]):  # type: ignore[list-item]
                    pass
            async with session.prompt("again") as turn:
                await turn.wait()
    assert turn.stop_reason == "end_turn"


async def test_updates_of_unknown_kinds_are_counted_in_the_state() -> None:
    async with calling(LINKS["memory"], DeliveringClient) as (agent, peer):
        opening = open_session(agent, cwd="/work")
        entering = asyncio.create_task(opening.__aenter__())
        await peer.send({"id": (await peer.receive())["id"], "result": {"sessionId": "s"}})
        session = await entering
        for invalid in ({"sessionUpdate": "hologram"}, {"sessionUpdate": "plan", "entries": 1}, 5):
            await peer.send({"method": "session/update", "params": {"sessionId": "s", "update": invalid}})
        await peer.send({"method": "session/update", "params": {"sessionId": "other", "update": {}}})
        await peer.send(update("s", "last"))
        while not session.state.text:
            await asyncio.sleep(0)
        assert session.state.unknown == 1
        await opening.__aexit__(None, None, None)
