"""`replay` sends a session's history to a client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.agent import Sessions
from acp_kit.client import open_session
from acp_kit.history import HistoryStore, MemoryHistory, SqlHistory, replay
from acp_runtime import ABSENT, Options
from tests.support.kit.shown import shown
from tests.support.kit.turns import Viewer

# The group shares the import of sqlalchemy.
pytestmark = pytest.mark.xdist_group("packages")


class SlowClient:
    """Takes an update when `take` is called."""

    def __init__(self) -> None:
        self.taken: list[Any] = []
        self._may_take = asyncio.Semaphore(0)
        self._waiting = asyncio.Semaphore(0)

    async def session_update(self, *, session_id: str, update: Any) -> None:
        self._waiting.release()
        await self._may_take.acquire()
        self.taken.append(update)

    async def take(self) -> None:
        await self._waiting.acquire()
        self._may_take.release()


class CountedHistory(MemoryHistory):
    """Counts the updates that were read."""

    count = 0

    async def read(self, session_id: str) -> AsyncGenerator[v1.SessionUpdate, None]:
        async for update in super().read(session_id):
            self.count += 1
            yield update


def call(number: int, **fields: Any) -> Any:
    return v1.SessionUpdateToolCall(tool_call_id=str(number), title="t", **fields)


async def test_an_update_is_read_when_the_client_has_taken_the_previous_one() -> None:
    store, client = CountedHistory(), SlowClient()
    await store.create("s", cwd="/")
    await store.append("s", *(call(number, status="completed") for number in range(10)))
    replaying = asyncio.create_task(replay(store, "s", client))
    for count in range(1, 11):
        await client.take()
        assert store.count <= count
    await replaying
    assert client.taken == [call(number, status="completed") for number in range(10)]


async def test_a_tool_call_that_was_never_finished_is_sent_as_failed() -> None:
    store, client = MemoryHistory(), SlowClient()
    await store.create("s", cwd="/")
    statuses: list[dict[str, Any]] = [{}, {"status": "pending"}, {"status": "in_progress"}, {"status": "completed"}]
    await store.append("s", *(call(number, **fields) for number, fields in enumerate(statuses)))
    replaying = asyncio.create_task(replay(store, "s", client))
    for _ in statuses:
        await client.take()
    await replaying
    assert [update.status for update in client.taken] == ["failed", "failed", "failed", "completed"]
    assert [update.status async for update in store.read("s")] == [None, "pending", "in_progress", "completed"]


@pytest.mark.parametrize(
    ("status", "sent"), [("in_progress", "failed"), ("completed", "completed"), ("cancelled", "cancelled")]
)
async def test_a_compaction_that_was_never_finished_is_sent_as_failed(status: str, sent: str) -> None:
    store, client = MemoryHistory(), SlowClient()
    await store.create("s", cwd="/")
    await store.append("s", v1.SessionUpdateCompactionUpdate(compaction_id="c", status=status))
    await asyncio.gather(replay(store, "s", client), client.take())
    assert [update.status for update in client.taken] == [sent]


class Recording(v1.Agent):
    """Records its turns with one argument, and replays them."""

    def __init__(self, client: v1.RemoteClient, history: HistoryStore) -> None:
        self.client = client
        self.history = history
        self.sessions = Sessions(record=history.append)

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        capabilities = v1.AgentCapabilities(
            load_session=True, session_capabilities=v1.SessionCapabilities(list=v1.SessionListCapabilities())
        )
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=capabilities)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        session = self.sessions.create(self.client, cwd=request.cwd)
        await self.history.create(session.id, cwd=request.cwd)
        return v1.NewSessionResponse(session_id=session.id)

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        await replay(self.history, request.session_id, self.client)
        return v1.LoadSessionResponse()

    async def session_list(self, request: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
        return await self.history.list(cwd=request.cwd, cursor=request.cursor)

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            await turn.say("Let me ")
            await turn.say("look.")
            async with turn.tool_call("Read a file", kind="read") as tool_call:
                tool_call.output("its text")
            await turn.say("Done.")
        return turn.response


async def test_a_client_that_loads_a_session_sees_the_same_as_the_first_one(tmp_path: Path) -> None:
    @asynccontextmanager
    async def connected() -> AsyncGenerator[v1.RemoteAgent]:
        async with (
            SqlHistory(tmp_path / "history.db") as history,
            v1.connect_in_process(lambda client: Recording(client, history), Viewer) as agent,
        ):
            await agent.initialize(protocol_version=1)
            yield agent

    async with connected() as agent, open_session(agent, cwd="/a") as first:
        assert await first.ask("Read it.") == "Let me look.Done."
    async with connected() as agent:
        assert [session.session_id for session in (await agent.session_list(cwd="/a")).sessions] == [first.id]
        async with open_session(agent, cwd="/a", load=first.id) as second:
            assert [message.text for message in second.state.messages] == ["Read it.", "Let me look.", "Done."]
            # The client doesn't know the id of its own message.
            assert shown(second.state)["timeline"][1:] == shown(first.state)["timeline"][1:]


@pytest.mark.parametrize("has_compaction", [False, True])
async def test_a_replay_sends_only_updates_that_the_client_advertised(has_compaction: bool) -> None:
    history = MemoryHistory()
    await history.create("s", cwd="/a")
    text = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text="Hi."))
    for update in (v1.SessionUpdateCompactionUpdate(compaction_id="c", status="completed"), text):
        await history.append("s", update)
    session = v1.ClientSessionCapabilities(compaction=v1.CompactionCapabilities()) if has_compaction else ABSENT
    async with v1.connect_in_process(lambda client: Recording(client, history), Viewer) as agent:
        await agent.initialize(protocol_version=1, client_capabilities=v1.ClientCapabilities(session=session))
        async with open_session(agent, cwd="/a", load="s") as opened:
            assert len(opened.state.timeline) == 1 + has_compaction


@pytest.mark.parametrize(
    "unsendable",
    [call(1, raw_output="x" * 5000), call(1, locations=[v1.ToolCallLocation(path="relative")])],
    ids=["too large", "a relative path"],
)
async def test_an_update_that_can_not_be_sent_is_left_out(unsendable: Any, caplog: pytest.LogCaptureFixture) -> None:
    history = MemoryHistory()
    await history.create("s", cwd="/a")
    await history.append("s", unsendable, call(2))
    options = Options(max_message_bytes=5000)
    async with v1.connect_in_process(lambda client: Recording(client, history), Viewer, options=options) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/a", load="s") as opened:
            assert list(opened.state.tool_calls) == ["2"]
    assert "left out" in caplog.text
