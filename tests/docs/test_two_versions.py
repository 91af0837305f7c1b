"""The agent of docs/guides/two-versions.md keeps what version 2 of the protocol demands of agents, on the wire."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from acp_bindings.v2_draft.connecting import AGENT_SIDE
from tests.support.docs.blocks import DOCS
from tests.support.docs.files import steps
from tests.support.kit.behind_v2 import CANCEL, INITIALIZE, PROMPT, ask, names, request, until_idle
from tests.support.runtime.peer import LINKS, Peer, serving

PAGE = DOCS / "guides" / "two-versions.md"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module `agent_v2` of the page."""
    (tmp_path / "agent_v2.py").write_text(steps(PAGE)[-1].files["agent_v2.py"], "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield import_module("agent_v2")
    del sys.modules["agent_v2"]


@pytest.fixture
def waiting(page: ModuleType) -> Any:
    """An agent of the page whose answer begins and doesn't end."""

    class Waiting(page.AgentV2):  # type: ignore[misc, name-defined]
        async def answer(self, prompt: Any) -> AsyncIterator[str]:
            yield "Let me think"
            await asyncio.Event().wait()

    return Waiting


@asynccontextmanager
async def session_of(agent: Any) -> AsyncIterator[Peer]:
    """Connect an agent of the page to a raw client with the session `session-1`."""
    async with serving(LINKS["memory"], agent, side=AGENT_SIDE, ready=False) as peer:
        result = await peer.call("initialize", INITIALIZE)
        assert result["result"]["capabilities"] == {"session": {}}
        assert (await peer.call("session/new", {"cwd": "/work"}))["result"] == {"sessionId": "session-1"}
        yield peer


async def turn(peer: Peer) -> tuple[list[Any], str]:
    """Send a prompt. Return the updates until the session is idle, and the id of the message in the response."""
    before, response = await ask(peer, 1, "session/prompt", prompt=PROMPT)
    return [*before, *await until_idle(peer)], response["result"]["messageId"]


async def begin(peer: Peer) -> list[Any]:
    """Send a prompt to a waiting agent. Return the updates until its answer has begun."""
    updates, _ = await ask(peer, 1, "session/prompt", prompt=PROMPT)
    while not updates or updates[-1]["sessionUpdate"] != "agent_message_chunk":
        updates.append((await peer.receive())["params"]["update"])
    return updates


TURN = ["user_message", "running", "agent_message_chunk"]


async def test_an_accepted_prompt_is_reported_as_a_user_message_with_its_id(page: ModuleType) -> None:
    async with session_of(page.AgentV2) as peer:
        updates, message_id = await turn(peer)
    assert updates[0] == {"sessionUpdate": "user_message", "messageId": message_id, "content": PROMPT}


async def test_work_is_reported_as_running_then_idle_with_a_stop_reason(page: ModuleType) -> None:
    async with session_of(page.AgentV2) as peer:
        for _ in range(2):
            updates, _ = await turn(peer)
            assert names(updates) == [*TURN, "idle end_turn"]
        assert await peer.until_quiet() == []


async def test_every_message_has_an_id_of_its_own(page: ModuleType) -> None:
    async with session_of(page.AgentV2) as peer:
        updates = [update for _ in range(2) for update in (await turn(peer))[0]]
    ids = [update["messageId"] for update in updates if "state" not in update]
    assert len(set(ids)) == 4


async def test_work_that_fails_ends_in_idle_with_the_reason_error(
    page: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(page.AgentV2):  # type: ignore[misc, name-defined]
        async def answer(self, prompt: Any) -> AsyncIterator[str]:
            yield "Let me think"
            raise OSError("the model has gone")

    async with session_of(Failing) as peer:
        updates, _ = await turn(peer)
        assert names(updates) == [*TURN, "idle error"]
        assert names((await turn(peer))[0]) == [*TURN, "idle error"]
    assert "the model has gone" in caplog.text


async def test_a_prompt_during_a_turn_is_refused_and_the_turn_goes_on(waiting: Any) -> None:
    async with session_of(waiting) as peer:
        await begin(peer)
        updates, response = await ask(peer, 2, "session/prompt", prompt=PROMPT)
        assert (updates, response["error"]["code"]) == ([], -32600)
        updates, _ = await ask(peer, 3, "session/resume", cwd="/work")
        assert names(updates) == ["running"]
        await ask(peer, 4, "session/close")


async def test_session_cancel_ends_the_turn_in_idle_with_the_reason_cancelled(waiting: Any) -> None:
    async with session_of(waiting) as peer:
        assert names(await begin(peer)) == TURN
        await peer.send(CANCEL, CANCEL)
        assert names(await until_idle(peer)) == ["idle cancelled"]
        await peer.send(CANCEL)
        assert await peer.until_quiet() == []
        assert names(await begin(peer)) == TURN
        await ask(peer, 2, "session/close")


async def test_close_right_after_the_prompt_leaves_out_no_report(waiting: Any) -> None:
    async with session_of(waiting) as peer:
        await peer.send(request(1, "session/prompt", prompt=PROMPT), request(2, "session/close"))
        messages = [await peer.receive()]
        while messages[-1].get("id") != 2:
            messages.append(await peer.receive())
    updates = [message["params"]["update"] for message in messages if "params" in message]
    (response,) = [message["result"] for message in messages if message.get("id") == 1]
    assert updates[0]["messageId"] == response["messageId"]
    assert names(updates) == [*TURN, "idle cancelled"]


async def test_a_prompt_that_is_cancelled_before_it_is_handled_leaves_no_message(waiting: Any) -> None:
    async with session_of(waiting) as peer:
        await peer.send(request(1, "session/prompt", prompt=PROMPT), CANCEL, CANCEL)
        answer = await peer.receive()
        assert (answer["id"], answer["error"]["code"]) == (1, -32800)
        assert await peer.until_quiet() == []
        assert names(await begin(peer)) == TURN
        await ask(peer, 2, "session/close")


async def test_resume_without_replay_sends_the_current_state_and_no_message_before_its_response(
    page: ModuleType,
) -> None:
    async with session_of(page.AgentV2) as peer:
        updates, response = await ask(peer, 2, "session/resume", cwd="/work")
        assert (names(updates), response["result"]) == (["idle"], {})
        await turn(peer)
        for replay in ({}, {"replayFrom": None}):
            updates, response = await ask(peer, 3, "session/resume", cwd="/work", **replay)
            assert (names(updates), response["result"]) == (["idle end_turn"], {})


async def test_resume_from_the_start_replays_the_conversation_and_then_the_state(page: ModuleType) -> None:
    async with session_of(page.AgentV2) as peer:
        live, _ = await turn(peer)
        updates, response = await ask(peer, 2, "session/resume", cwd="/work", replayFrom={"type": "start"})
    assert updates == [update for update in live if update.get("state") != "running"]
    assert response["result"] == {}


async def test_resume_from_a_cursor_that_is_not_supported_is_refused(page: ModuleType) -> None:
    async with session_of(page.AgentV2) as peer:
        await turn(peer)
        updates, response = await ask(peer, 2, "session/resume", cwd="/work", replayFrom={"type": "_message"})
    assert (updates, response["error"]["code"]) == ([], -32602)


async def test_close_reports_idle_cancelled_before_its_response_and_nothing_afterwards(waiting: Any) -> None:
    async with session_of(waiting) as peer:
        await begin(peer)
        updates, response = await ask(peer, 2, "session/close")
        assert (names(updates), response["result"]) == (["idle cancelled"], {})
        assert await peer.until_quiet() == []


async def test_close_of_an_idle_or_an_unknown_session_succeeds(page: ModuleType) -> None:
    async with session_of(page.AgentV2) as peer:
        for session in ("session-1", "session-2"):
            updates, response = await ask(peer, 2, "session/close", sessionId=session)
            assert (updates, response["result"]) == ([], {})


async def test_an_unknown_session_can_not_be_prompted_or_resumed(page: ModuleType) -> None:
    async with session_of(page.AgentV2) as peer:
        for method, params in (("session/prompt", {"prompt": PROMPT}), ("session/resume", {"cwd": "/work"})):
            _, response = await ask(peer, 2, method, sessionId="session-2", **params)
            assert response["error"]["code"] == -32002


async def test_new_sessions_have_ids_of_their_own_and_are_listed_by_folder(page: ModuleType) -> None:
    async with session_of(page.AgentV2) as peer:
        await peer.call("session/new", {"cwd": "/other"})
        for params, ids in (({}, ["session-1", "session-2"]), ({"cwd": "/other"}, ["session-2"])):
            sessions = (await peer.call("session/list", params))["result"]["sessions"]
            assert [session["sessionId"] for session in sessions] == ids


async def test_a_client_that_leaves_during_a_turn_leaves_no_error(
    waiting: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with session_of(waiting) as peer:
        await begin(peer)
        await peer.end()
        await peer.rest()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    assert [result for result in await asyncio.gather(*tasks, return_exceptions=True) if result is not None] == []
    assert caplog.text == ""
