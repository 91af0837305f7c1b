"""A turn gives its updates, its text and its end, and whatever ends it, the session can go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from acp_bindings.v1 import (
    Client,
    ContentBlockImage,
    ContentBlockText,
    RemoteAgent,
    RequestPermissionRequest,
    SessionUpdateToolCall,
)
from acp_kit.agent import Turn
from acp_kit.client import (
    ClientSession,
    Message,
    PermissionHandlers,
    PermissionPolicy,
    UnfinishedTurn,
    UpdateHandlers,
    open_session,
)
from acp_kit.testing import ScriptedAgent, connect
from acp_runtime import CapabilityError, ResourceNotFound
from tests.support.kit.turns import Act, Viewer
from tests.support.runtime.peer import LINKS, Peer, calling, line, update


async def hangs(turn: Turn) -> None:
    await turn.say("begun")
    await asyncio.Event().wait()


async def fails(turn: Turn) -> None:
    await turn.say("hello")
    raise ResourceNotFound("gone")


def ignores_its_cancellation(may_end: asyncio.Event) -> Act:
    async def act(turn: Turn) -> None:
        try:
            await hangs(turn)
        except asyncio.CancelledError:
            await may_end.wait()
            raise

    return act


async def test_a_turn_is_used_only_inside_of_its_block() -> None:
    async with connect(ScriptedAgent("hello"), Viewer) as session:
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
    with pytest.raises(RuntimeError, match="closed"):
        async with session.prompt("hello"):
            pass


async def test_a_prompt_is_text_a_block_or_several_blocks() -> None:
    first, second = ContentBlockText(text="a"), ContentBlockText(text="b")
    async with connect(ScriptedAgent("hello"), Viewer) as session:
        assert session.prompt("a").blocks == session.prompt(first).blocks == [first]
        assert session.prompt([first, second]).blocks == [first, second]


def test_ask_has_the_defaults_of_prompt() -> None:
    assert ClientSession.ask.__kwdefaults__ == ClientSession.prompt.__kwdefaults__


async def test_the_text_of_a_turn_has_nothing_of_the_turns_before() -> None:
    async def thinks(turn: Turn) -> None:
        await turn.think("hm")

    async with connect(ScriptedAgent(["one ", "two"], "three", thinks), Viewer) as session:
        turns = [session.prompt("go") for _ in range(3)]
        for turn in turns:
            async with turn:
                await turn.wait()
        assert [turn.text for turn in turns] == ["one two", "three", ""]
        assert session.state.text == "one twothree"


async def test_the_text_of_a_turn_grows_before_anybody_reads_its_updates() -> None:
    async with connect(ScriptedAgent(hangs), Viewer) as session, session.prompt("go") as turn:
        assert turn.text == ""
        while not turn.text:
            await asyncio.sleep(0)
        await turn.cancel()
        await turn.wait()
        assert turn.text == "begun"


async def test_tool_calls_are_shown_as_cancelled_as_soon_as_the_turn_is_cancelled() -> None:
    may_end = asyncio.Event()

    async def act(turn: Turn) -> None:
        await turn.tool_call("long").start()
        await ignores_its_cancellation(may_end)(turn)

    async with connect(ScriptedAgent(act), Viewer) as session:
        async with session.prompt("hello") as turn:
            async for shown in turn:
                if shown.session_update == "agent_message_chunk":
                    await turn.cancel()
                    (call,) = session.state.tool_calls.values()
                    assert (call.status, session.state.status_of(call)) == ("in_progress", "cancelled")
                    may_end.set()
        (call,) = session.state.tool_calls.values()
        assert session.state.status_of(call) == "failed"  # as the agent says


async def test_a_tool_call_that_the_agent_leaves_open_runs_until_the_answer() -> None:
    async def act(turn: Turn) -> None:
        await turn.send(SessionUpdateToolCall(tool_call_id="1", title="a", status="in_progress"))

    async with connect(ScriptedAgent(act, act), Viewer) as session:
        async with session.prompt("hello") as turn:
            await anext(turn)
            (call,) = session.state.running_calls.values()
            await turn.wait()
            assert session.state.status_of(call) == "cancelled"
        await session.ask("again")
        assert len([entry for entry in session.state.timeline if not isinstance(entry, Message)]) == 2


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "refusal", "cancelled"])
async def test_a_reply_that_is_not_finished_is_no_answer(reason: Any) -> None:
    async def stop(turn: Turn) -> None:
        turn.stop_reason = reason

    async with connect(ScriptedAgent(["half a", stop], "again"), Viewer) as session:
        with pytest.raises(UnfinishedTurn, match=reason) as caught:
            await session.ask("go")
        assert (caught.value.stop_reason, caught.value.text) == (reason, "half a")
        assert await session.ask("go") == "again"


async def test_a_cancelled_question_cancels_the_turn() -> None:
    async with connect(ScriptedAgent(hangs, "again"), Viewer) as session:
        question = asyncio.create_task(session.ask("go"))
        while not session.state.text:
            await asyncio.sleep(0)
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await question
        assert await session.ask("go") == "again"


async def test_a_turn_that_is_left_or_cancelled_at_once_is_cancelled() -> None:
    async with connect(ScriptedAgent(hangs, hangs), Viewer) as session:
        async with session.prompt("left") as left:
            pass
        async with session.prompt("cancelled") as cancelled:
            await cancelled.cancel()
            await cancelled.wait()
    assert (left.stop_reason, cancelled.stop_reason) == ("cancelled", "cancelled")


async def test_a_late_cancel_does_not_cancel_the_next_turn() -> None:
    async with connect(ScriptedAgent([], []), Viewer) as session:
        async with session.prompt("hello") as first:
            await first.wait()
        async with session.prompt("again") as second:
            await first.cancel()
            await second.wait()
    assert second.stop_reason == "end_turn"


async def test_an_agent_that_does_not_end_a_cancelled_turn_is_left() -> None:
    may_end = asyncio.Event()
    async with connect(ScriptedAgent(ignores_its_cancellation(may_end)), Viewer) as session:
        async with session.prompt("hello", cancel_deadline=0) as turn:
            while not session.state.text:
                await asyncio.sleep(0)
        assert turn.stop_reason is None
        assert [update.session_update async for update in turn] == ["agent_message_chunk"]
        with pytest.raises(RuntimeError, match="no response"):
            await turn.wait()
        may_end.set()


@pytest.mark.parametrize("late", [False, True])
async def test_all_updates_are_read_before_the_error_of_a_prompt(late: bool) -> None:
    read: list[Any] = []
    async with connect(ScriptedAgent(fails), Viewer) as session:
        with pytest.raises(ResourceNotFound, match="gone"):
            async with session.prompt("hello") as turn:
                while late and not turn.ended:
                    await asyncio.sleep(0)
                async for update in turn:
                    read.append(update)
    assert [update.content.text for update in read] == ["hello"]


async def test_an_error_that_nobody_has_read_is_raised_at_the_end_of_the_block() -> None:
    async with connect(ScriptedAgent(fails), Viewer) as session:
        with pytest.raises(ResourceNotFound, match="gone"):
            async with session.prompt("hello") as turn:
                while not turn.ended:
                    await asyncio.sleep(0)


async def test_a_prompt_that_can_not_be_sent_leaves_the_session_usable() -> None:
    async with connect(ScriptedAgent("hello"), Viewer) as session:
        with pytest.raises(CapabilityError):
            await session.ask(ContentBlockImage(data="", mime_type="image/png"))
        with pytest.raises(ValueError, match="content"):
            await session.ask([1])  # type: ignore[list-item]
        assert await session.ask("again") == "hello"


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
    async with connect(ScriptedAgent(asks_twice), AskingClient) as session, session.prompt("go") as turn:
        client = cast("AskingClient", session.agent.handler)
        async for update in turn:
            client.shown.append(update.session_update)
    chunk, call, change = "agent_message_chunk", "tool_call", "tool_call_update"
    assert client.shown == [
        *(chunk, call, "may it read?", change, change),
        *(chunk, call, "may it write?", change, change),
    ]


async def test_a_question_does_not_wait_for_a_loop_that_waits_for_the_agent() -> None:
    async with connect(ScriptedAgent(asks_twice), AskingClient) as session, session.prompt("go") as turn:
        async for _ in turn:
            await turn.wait()
    assert cast("AskingClient", session.agent.handler).shown == ["may it read?", "may it write?"]


@asynccontextmanager
async def session_with_a_raw_agent() -> AsyncIterator[tuple[ClientSession, Peer]]:
    async with calling(LINKS["memory"], Viewer) as (agent, peer):
        opening = open_session(agent, cwd="/work")
        entering = asyncio.create_task(opening.__aenter__())
        await peer.answer(result={"sessionId": "s"})
        session = await entering
        yield session, peer
        await opening.__aexit__(None, None, None)


def in_one_piece(*messages: Any) -> bytes:
    return b"".join(map(line, messages))


@pytest.mark.parametrize("earlier", [[], ["a", "b"]], ids=["first", "behind updates"])
async def test_a_turn_ends_with_the_answer_and_later_updates_are_only_in_the_state(earlier: list[str]) -> None:
    async with session_with_a_raw_agent() as (session, peer):
        async with session.prompt("hello") as turn:
            answer = {"id": (await peer.receive())["id"], "result": {"stopReason": "end_turn"}}
            await peer.send(in_one_piece(*(update("s", text) for text in earlier), answer, update("s", "late")))
            await turn.wait()
            while not session.state.text.endswith("late"):
                await asyncio.sleep(0)
        assert turn.text == "".join(earlier)
        assert len([update async for update in turn]) == (1 if earlier else 0)
        assert not turn.cancelled


async def test_a_turn_that_settles_goes_on_after_the_answer_until_its_block_is_left() -> None:
    async with session_with_a_raw_agent() as (session, peer):
        async with session.prompt("hello", settle=1000) as turn:
            answer = {"id": (await peer.receive())["id"], "result": {"stopReason": "end_turn"}}
            await peer.send(in_one_piece(update("s", "text"), answer, update("s", ", late")))
            async for _ in turn:
                if turn.text == "text, late":
                    break
        assert (turn.text, turn.stop_reason, turn.cancelled) == ("text, late", "end_turn", False)
        assert await peer.until_quiet() == []


async def answer_when_quiet(peer: Peer, id: int) -> list[Any]:
    """Answer a prompt when nothing more comes, and return what came."""
    rest = await peer.until_quiet()
    await peer.send({"id": id, "result": {"stopReason": "end_turn"}})
    return rest


async def test_a_turn_that_was_cancelled_and_left_sends_one_cancellation() -> None:
    async with session_with_a_raw_agent() as (session, peer):
        async with session.prompt("hello") as turn:
            prompt = await peer.receive()
            await turn.cancel()
            assert (await peer.receive())["method"] == "session/cancel"
            rest = asyncio.create_task(answer_when_quiet(peer, prompt["id"]))
        assert await rest == []
        assert (turn.stop_reason, turn.cancelled) == ("end_turn", True)


@asynccontextmanager
async def waiting_turn() -> AsyncIterator[tuple[ClientSession, Peer, Any, Any]]:
    """A turn that waits for the answer to the cancelled one before it, and how to give that answer."""
    async with session_with_a_raw_agent() as (session, peer):
        async with session.prompt("first", cancel_deadline=0):
            first = await peer.receive()
        assert (await peer.receive())["method"] == "session/cancel"
        await peer.until_quiet()
        turn = session.prompt("second")

        async def answer() -> None:
            await peer.send({"id": first["id"], "result": {"stopReason": "cancelled"}})

        yield session, peer, turn, answer


async def test_a_turn_that_is_left_before_its_prompt_was_sent_sends_nothing() -> None:
    async with waiting_turn() as (session, peer, turn, answer):
        async with turn:
            assert not turn.cancelled
            await peer.send(update("s", "late text of the first"))
            await peer.until_quiet()
            assert (turn.cancelled, turn.text, session.state.text) == (False, "", "late text of the first")
        assert (turn.cancelled, turn.stop_reason) == (True, "cancelled")
        await answer()
        assert await peer.until_quiet() == []


async def test_a_turn_that_the_application_cancels_is_unfinished_whatever_the_agent_answers() -> None:
    async with session_with_a_raw_agent() as (session, peer):
        for cancels in True, False:
            asking = asyncio.create_task(session.ask("hello"))
            prompt = await peer.receive()
            if cancels:
                await session.agent.session_cancel(session_id="s")
                assert (await peer.receive())["method"] == "session/cancel"
            await peer.send(
                in_one_piece(update("s", "half"), {"id": prompt["id"], "result": {"stopReason": "end_turn"}})
            )
            if cancels:
                with pytest.raises(UnfinishedTurn, match="'cancelled'") as unfinished:
                    await asking
                assert (unfinished.value.stop_reason, unfinished.value.text) == ("cancelled", "half")
            else:
                assert await asking == "half"
