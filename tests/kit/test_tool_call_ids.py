"""Ids of tool calls that are used again, named before their start or sent again: each tool call is shown once.

A table: cases, and the places where each is read: the wire, the client's state, both histories, messages for models.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.client import SessionState, open_session
from acp_kit.content import diff
from acp_kit.history import HistoryStore, MemoryHistory, SqlHistory, to_anthropic, to_openai
from tests.support.kit.histories import read
from tests.support.kit.session_updates import text_chunk
from tests.support.kit.shown import state_of
from tests.support.kit.turns import Act, ActingAgent, Viewer

# The group shares the import of sqlalchemy.
pytestmark = pytest.mark.xdist_group("packages")

Calls: TypeAlias = list[tuple[Any, Any]]
"""The name and the result of each tool call."""

Start, Update, Asked = v1.SessionUpdateToolCall, v1.SessionUpdateToolCallUpdate, v1.ToolCallUpdate
DIFF = diff("/x", "a", "b")


def user_message(text: str) -> Any:
    return text_chunk(text, "user_message")


@dataclass
class Seen:
    """The tool calls of a session in each place that shows them."""

    stores: dict[str, HistoryStore]
    recorded: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    wire: list[Any] = field(default_factory=list[Any])
    state: SessionState = field(default_factory=SessionState)

    async def append(self, *updates: Any) -> None:
        for store in self.stores.values():
            await store.append("s", *updates)


async def on_the_wire(seen: Seen) -> Calls:
    groups: dict[str, list[Any]] = {}
    for update in seen.wire:
        if "tool_call" in update.session_update:
            groups.setdefault(update.tool_call_id, []).append(update)
    calls = [state_of(group).timeline for group in groups.values()]
    assert [len(call) for call in calls] == [1] * len(calls), "an id was used again"
    return _shown(call for (call,) in calls)


async def in_the_state(seen: Seen) -> Calls:
    return _shown(seen.state.timeline)


async def in_a_history(seen: Seen, kind: str) -> Calls:
    return _shown(await read(seen.stores[kind]))


async def for_openai(seen: Seen) -> Calls:
    messages = to_openai(await read(seen.stores["memory"]))
    names = {call["id"]: call["function"]["name"] for message in messages for call in message.get("tool_calls", ())}
    results = {message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"}
    return [(names[name], results[name]) for name in names]


async def for_anthropic(seen: Seen) -> Calls:
    blocks = [block for message in to_anthropic(await read(seen.stores["memory"])) for block in message["content"]]
    names = {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
    results = {block["tool_use_id"]: block["content"][0]["text"] for block in blocks if block["type"] == "tool_result"}
    return [(names[name], results[name]) for name in names]


def _shown(entries: Any) -> Calls:
    calls = [entry for entry in entries if isinstance(entry, v1.ToolCall)]
    return [(call.name, f"Changed {DIFF.path}" if call.content == [DIFF] else call.raw_output) for call in calls]


PLACES: dict[str, Callable[[Seen], Awaitable[Calls]]] = {
    "wire": on_the_wire,
    "state": in_the_state,
    "memory": partial(in_a_history, kind="memory"),
    "sql": partial(in_a_history, kind="sql"),
    "openai": for_openai,
    "anthropic": for_anthropic,
}


@asynccontextmanager
async def seeing(folder: Path) -> AsyncIterator[Seen]:
    async with SqlHistory(folder / "history.db") as sql:
        seen = Seen({"memory": MemoryHistory(), "sql": sql})
        for store in seen.stores.values():
            await store.create("s", cwd="/")
        yield seen


# What an agent with the kit sends


class Agent(ActingAgent):
    """Can load its session. Its recordings are in the histories when the connection has ended."""

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=v1.AgentCapabilities(load_session=True))

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        self.sessions.create(self.client, cwd=request.cwd, session_id=request.session_id)
        for _, update in [*self.recorded]:
            await self.client.session_update(session_id=request.session_id, update=update)
        return v1.LoadSessionResponse()


class Client(Viewer):
    def __init__(self, agent: v1.RemoteAgent, wire: list[Any]) -> None:
        super().__init__(agent)
        self.wire = wire

    async def session_update(self, notification: v1.SessionNotification, /) -> None:
        self.wire.append(notification.update)
        await super().session_update(notification)


@asynccontextmanager
async def connected(seen: Seen, *acts: Act) -> AsyncIterator[v1.RemoteAgent]:
    make = partial(Agent, acts=[*acts], recorded=seen.recorded)
    async with v1.connect_in_process(make, partial(Client, wire=seen.wire)) as agent:
        await agent.initialize(protocol_version=1)
        yield agent


async def calling(turn: Turn, names: str) -> None:
    """Run tool calls that all have the same id, one after the other. Their names are letters."""
    for name in names:
        async with turn.tool_call(name, tool=name, tool_call_id="call_0") as call:
            await asyncio.sleep(0)
            call.output(raw=f"result of {name}")


async def a_beside_b(turn: Turn) -> None:
    await asyncio.gather(calling(turn, "a"), calling(turn, "b"))


async def a_and_b_as_events(turn: Turn) -> None:
    for name in "ab":
        await turn.tool_call(name, tool=name, tool_call_id="call_0").start()
    for name in "ab":
        await turn.open_calls["call_0"].end(raw=f"result of {name}")
    assert [*turn.open_calls] == []


async def b_after_a_was_sent(turn: Turn) -> None:
    await turn.send(Update(tool_call_id="call_0", name="a", raw_output="result of a", status="completed"))
    await calling(turn, "b")


async def in_turns(seen: Seen, acts: list[Act]) -> None:
    async with connected(seen, *acts) as agent, open_session(agent, cwd="/") as session:
        for _ in acts:
            await session.ask("go")
        seen.state = session.state


async def after_a_restart(seen: Seen) -> None:
    async with connected(seen, partial(calling, names="a")) as agent, open_session(agent, cwd="/") as session:
        await session.ask("go")
    before = [*seen.wire]
    async with (
        connected(seen, partial(calling, names="b")) as agent,
        open_session(agent, cwd="/", load=session.id) as session,
    ):
        seen.wire[:] = before  # without the replay
        await session.ask("go")
        seen.state = session.state


async def with_a_replay(seen: Seen) -> None:
    async with connected(seen, partial(calling, names="ab")) as agent, open_session(agent, cwd="/") as session:
        await session.ask("go")
        before = [*seen.wire]
        with session.state.replayed():
            await agent.session_load(session_id=session.id, cwd="/", mcp_servers=[])
        seen.wire[:] = before
        seen.state = session.state


SENT: dict[str, Callable[[Seen], Awaitable[None]]] = {
    "reused in a turn": partial(in_turns, acts=[partial(calling, names="ab")]),
    "reused in one answer": partial(in_turns, acts=[a_beside_b]),
    "reused in one answer, as events": partial(in_turns, acts=[a_and_b_as_events]),
    "reused after an update of one's own": partial(in_turns, acts=[b_after_a_was_sent]),
    "reused in a session": partial(in_turns, acts=[partial(calling, names=letter) for letter in "ab"]),
    "reused after a restart": after_a_restart,
    "replayed": with_a_replay,
}


@pytest.mark.parametrize("case", SENT)
async def test_an_id_that_is_used_again_is_another_tool_call(case: str, tmp_path: Path) -> None:
    async with seeing(tmp_path) as seen:
        await SENT[case](seen)
        await seen.append(*(update for _, update in seen.recorded))
        result = {place: await calls(seen) for place, calls in PLACES.items()}
        assert result == {place: [("a", "result of a"), ("b", "result of b")] for place in PLACES}


# What other agents send


RECEIVED: dict[str, tuple[list[Any], Calls]] = {
    "started after its end": (
        [
            Start(tool_call_id="1", title="a", name="a", status="in_progress"),
            Update(tool_call_id="1", status="completed", raw_output="result of a"),
            Start(tool_call_id="1", title="b", name="b", status="in_progress"),
            Update(tool_call_id="1", status="completed", raw_output="result of b"),
        ],
        [("a", "result of a"), ("b", "result of b")],
    ),
    "started twice": (
        [
            Start(tool_call_id="1", title="a", name="a", content=[DIFF]),
            Start(tool_call_id="1", title="the whole a", raw_input={"path": "/x"}, status="in_progress"),
            Update(tool_call_id="1", status="completed"),
        ],
        [("a", "Changed /x")],
    ),
    "permission first": (
        [
            Asked(tool_call_id="1", title="a", name="a", content=[DIFF]),
            Start(tool_call_id="1", title="Edit", status="in_progress"),
            Update(tool_call_id="1", status="completed"),
        ],
        [("a", "Changed /x")],
    ),
    "permission first, then updates only": (
        [Asked(tool_call_id="1", title="a", name="a", content=[DIFF]), Update(tool_call_id="1", status="completed")],
        [("a", "Changed /x")],
    ),
    "permission first, with the id of one that has ended": (
        [
            Start(tool_call_id="1", title="a", name="a", raw_output="result of a", status="completed"),
            Asked(tool_call_id="1", title="b", name="b", status="pending"),
            Start(tool_call_id="1", title="b", raw_output="result of b", status="completed"),
        ],
        [("a", "result of a"), ("b", "result of b")],
    ),
    "started after a turn in which it did not end": (
        [
            user_message("first"),
            Start(tool_call_id="1", title="a", name="a", raw_output="half of a", status="in_progress"),
            user_message("second"),
            Start(tool_call_id="1", title="b", name="b", status="in_progress"),
            Update(tool_call_id="1", status="completed", raw_output="result of b"),
        ],
        [("a", "half of a"), ("b", "result of b")],
    ),
    "permission first, after a turn in which it did not end": (
        [
            user_message("first"),
            Start(tool_call_id="1", title="a", name="a", raw_output="half of a", status="in_progress"),
            user_message("second"),
            Asked(tool_call_id="1", title="b", name="b", status="pending"),
            Start(tool_call_id="1", title="b", raw_output="result of b", status="completed"),
        ],
        [("a", "half of a"), ("b", "result of b")],
    ),
    "updated after the next message of the user": (
        [
            Start(tool_call_id="1", title="a", name="a", status="in_progress"),
            user_message("faster"),
            Update(tool_call_id="1", status="completed", raw_output="result of a"),
        ],
        [("a", "result of a")],
    ),
    "never started": (
        [
            Update(tool_call_id="1", name="a", status="in_progress"),
            Update(tool_call_id="1", status="completed", raw_output="result of a"),
        ],
        [("a", "result of a")],
    ),
}


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("case", RECEIVED)
async def test_each_tool_call_of_another_agent_is_shown_once(case: str, together: bool, tmp_path: Path) -> None:
    updates, expected = RECEIVED[case]
    async with seeing(tmp_path) as seen:
        for batch in [updates] if together else [[update] for update in updates]:
            await seen.append(*batch)
        for update in updates:
            seen.state.apply(update)
        seen.state.end_message()
        result = {place: await calls(seen) for place, calls in PLACES.items() if place != "wire"}
        for place in "openai", "anthropic":
            result[place] = [(name, output.removesuffix("\nThis did not finish.")) for name, output in result[place]]
        assert result == dict.fromkeys(result, expected)
