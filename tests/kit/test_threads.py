"""A worker thread can call the peer; whatever would block for ever is refused with a sentence."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import pytest

from acp_bindings.v1 import ContentBlockText, PermissionOption, SessionUpdateAgentMessageChunk, ToolCallUpdate
from acp_kit import threads
from acp_kit.agent import Turn
from acp_kit.threads import FromThread, from_thread
from acp_runtime import CapabilityError
from tests.support.kit.turns import Act, conversation


def chunk(text: str) -> SessionUpdateAgentMessageChunk:
    return SessionUpdateAgentMessageChunk(content=ContentBlockText(text=text))


def in_thread(work: Callable[[Turn, FromThread], None]) -> Act:
    """Return what runs a function in a thread during a turn."""

    async def act(turn: Turn) -> None:
        await asyncio.to_thread(work, turn, from_thread(turn.session.client))

    return act


def permission(turn: Turn) -> dict[str, Any]:
    option = PermissionOption(option_id="yes", name="Yes", kind="allow_once")
    return {"session_id": turn.session.id, "tool_call": ToolCallUpdate(tool_call_id="c"), "options": [option]}


async def test_a_thread_calls_methods_and_gets_their_results() -> None:
    results: list[Any] = []

    def work(turn: Turn, call: FromThread) -> None:
        for number in range(100):
            call(turn.session.client.session_update, session_id=turn.session.id, update=chunk(str(number)))
        results.append(call(turn.session.client.session_request_permission, **permission(turn)).outcome.option_id)
        call(turn.say, "of the turn")

    async with conversation() as talk:
        await talk.prompt(in_thread(work), "yes")
        assert [update.content.text for update in talk.updates] == [*map(str, range(100)), "of the turn"]
        assert results == ["yes"]


async def test_an_error_of_the_call_is_raised_in_the_thread() -> None:
    def work(turn: Turn, call: FromThread) -> None:
        with pytest.raises(CapabilityError):
            call(turn.session.client.terminal_create, session_id="s", command="ls")

    async with conversation() as talk:
        assert await talk.prompt(in_thread(work)) == "end_turn"


async def test_a_timeout_of_the_call_itself_is_its_error() -> None:
    async def times_out() -> None:
        raise TimeoutError("mine")

    async with conversation() as talk:
        call = from_thread(talk.agent)
        with pytest.raises(TimeoutError, match="mine"):
            await asyncio.to_thread(call, times_out)


async def test_a_call_in_another_event_loop_is_refused() -> None:
    async with conversation() as talk:
        call = from_thread(talk.agent)

        async def other() -> None:
            call(talk.agent.session_new, cwd="/work", mcp_servers=[])

        with pytest.raises(RuntimeError, match="Await the method instead"):
            await asyncio.to_thread(asyncio.run, other())


def in_a_thread(work: Callable[[], Any]) -> tuple[threading.Thread, list[BaseException]]:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, raised


class Interrupted(SimpleQueue[Any]):
    """A queue whose reader is interrupted."""

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        raise KeyboardInterrupt


@pytest.mark.parametrize("is_interrupted", [False, True])
async def test_a_call_that_has_not_begun_when_it_ends_calls_nothing(
    is_interrupted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []

    async def send() -> None:
        sent.append(1)

    async with conversation() as talk:
        call = from_thread(talk.agent, start_deadline=0.05)
        if is_interrupted:
            monkeypatch.setattr(threads, "SimpleQueue", Interrupted)
        thread, raised = in_a_thread(lambda: call(send))
        thread.join()  # blocks the loop, as the mistake does that a user may make
        monkeypatch.undo()
        assert isinstance(raised[0], KeyboardInterrupt) or "Is it waiting for this thread?" in str(raised[0])
        assert isinstance(raised[0], KeyboardInterrupt) == is_interrupted
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert sent == []


def test_a_call_ends_when_its_loop_ends() -> None:
    results: list[Any] = []

    async def main() -> None:
        async with conversation() as talk:
            begun = asyncio.Event()

            async def for_ever() -> None:
                begun.set()
                await asyncio.Event().wait()

            call = from_thread(talk.agent)
            results.append(in_a_thread(lambda: call(for_ever)))
            await begun.wait()

    asyncio.run(main())
    thread, raised = results[0]
    thread.join(30)
    assert not thread.is_alive()
    assert len(raised) == 1
