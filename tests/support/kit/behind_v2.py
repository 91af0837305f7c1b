"""Agents of version 1 behind `as_v2`, and raw clients of version 2 that talk to them or to other agents."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from acp_bindings import v1
from acp_bindings.v2_draft.connecting import AGENT_SIDE
from acp_kit.versions import as_v2
from acp_runtime import Options
from tests.support.runtime.peer import LINKS, Peer, chunk, serving

INFO = {"name": "client", "version": "1"}
INITIALIZE = {"protocolVersion": 2, "info": INFO, "capabilities": {}}
PROMPT = [{"type": "text", "text": "hi"}]
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]


class AgentV1(v1.Agent):
    """An agent that says "hello" in its turns.

    Attributes:
        initialized: the params of `initialize`.
        prompts: the texts of its prompts.
    """

    capabilities: Any = v1.AgentCapabilities()

    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client
        self.initialized: v1.InitializeRequest | None = None
        self.prompts: list[Any] = []
        self.sessions = 0

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        self.initialized = request
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=self.capabilities)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        self.sessions += 1
        return v1.NewSessionResponse(session_id=f"session-{self.sessions}")

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        self.prompts.extend(block.model_dump().get("text") for block in request.prompt)
        await self.work(request.session_id)
        return v1.PromptResponse(stop_reason="end_turn")

    async def work(self, session: str) -> None:
        """Do what a turn does."""
        await self.send(session, chunk("hello"))

    async def send(self, session: str, *updates: Any) -> None:
        """Send updates."""
        for update in updates:
            await self.client.session_update(session_id=session, update=update)


def without_guards(agent: Callable[[Any], v1.Agent]) -> Any:
    """Return a function for `as_v2(open=...)` that connects to an agent whose messages aren't checked."""
    return partial(v1.connect_in_process, agent, options=Options(guards="off"))


@asynccontextmanager
async def connected(
    agent: Callable[[Any], v1.Agent] = AgentV1, capabilities: Any = None, *, open: Any = None
) -> AsyncGenerator[tuple[Peer, Any]]:
    """Connect an agent, or the one that `open` connects to, to a raw client of version 2.

    Yield the client and the result of `initialize`.
    """
    factory = as_v2(agent) if open is None else as_v2(open=open)
    async with serving(LINKS["memory"], factory, side=AGENT_SIDE, ready=False) as peer:
        answer = await peer.call("initialize", {**INITIALIZE, "capabilities": capabilities or {}})
        yield peer, answer.get("result")


@asynccontextmanager
async def session_of(
    agent: Callable[[Any], v1.Agent] = AgentV1, capabilities: Any = None, *, open: Any = None
) -> AsyncGenerator[Peer]:
    """Connect as `connected` does, and create `session-1`."""
    async with connected(agent, capabilities, open=open) as (peer, _):
        assert (await peer.call("session/new", {"cwd": "/work"}))["result"]["sessionId"] == "session-1"
        yield peer


def request(id: int, method: str, **params: Any) -> dict[str, Any]:
    return {"id": id, "method": method, "params": {"sessionId": "session-1", **params}}


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"sessionId": "session-1", **params}}


CANCEL = notification("session/cancel")


async def ask(peer: Peer, id: int, method: str, **params: Any) -> tuple[list[Any], Any]:
    """Send a request about the session. Return the updates before its response, and the response."""
    await peer.send(request(id, method, **params))
    updates: list[Any] = []
    while (message := await peer.receive()).get("id") != id:
        updates.append(message["params"]["update"])
    return updates, message


async def update_of(peer: Peer) -> Any:
    """Return the next update."""
    return (await peer.receive())["params"]["update"]


async def until_idle(peer: Peer) -> list[Any]:
    """Return the updates until the session is idle, and requests of the agent as they are."""
    updates: list[Any] = []
    while not updates or updates[-1].get("state") != "idle":
        message = await peer.receive()
        updates.append(message if "id" in message else message["params"]["update"])
    return updates


async def turn(peer: Peer, id: int = 1) -> list[Any]:
    """Send a prompt. Return the updates until the session is idle."""
    before, response = await ask(peer, id, "session/prompt", prompt=PROMPT)
    (message,) = [update for update in before if update["sessionUpdate"] == "user_message"]
    assert response["result"] == {"messageId": message["messageId"]}
    return [*before, *await until_idle(peer)]


def names(updates: list[Any]) -> list[str]:
    """Return the kinds of updates; of a state, the state and its stop reason; of a request, its method."""
    return [
        " ".join(filter(None, (update["state"], update.get("stopReason"))))
        if "state" in update
        else update.get("sessionUpdate") or update["method"]
        for update in updates
    ]
