"""An agent in this process or one of its own: a prompt is the name of a function below, and its arguments as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, Field

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.client import (
    ClientSession,
    ElicitationHandlers,
    Elicitations,
    TerminalHandlers,
    Terminals,
    client_capabilities,
    open_session,
)
from acp_kit.content import to_text
from acp_runtime import CapabilityError, RequestError
from tests.support.kit.turns import ActingAgent, Viewer
from tests.support.paths import ROOT

Connect: TypeAlias = Callable[[Any], AbstractAsyncContextManager[v1.RemoteAgent]]


class Size(Enum):
    """A choice."""

    SMALL = "small"
    LARGE = "large"


class Order(BaseModel):
    """What to order."""

    name: str = Field(title="Your name", min_length=2)
    size: Size
    milk: Literal["none", "oat"] = "oat"
    sugar: int = Field(default=0, ge=0, le=3)
    tip: float | None = None
    day: date | None = Field(default=None, description="When you come")
    to_go: bool = False
    extras: list[Literal["cream", "cacao"]] = []


class Exact(BaseModel, extra="forbid"):
    """A form that takes nothing else."""


FORMS: dict[str, Any] = {
    "order": Order,
    "exact": Exact,
    "schema": {
        "type": "object",
        "properties": {
            "to-go": {"type": "boolean"},
            "name": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"},
            "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
            "cups": {"type": "integer", "minimum": 1},
            "tip": {"type": "number", "maximum": 10},
            "extras": {"type": "array", "maxItems": 1, "items": {"anyOf": [{"const": "c", "title": "Cream"}]}},
        },
        "required": ["name"],
    },
}


async def elicit(turn: Turn, name: str, tool_call_id: str | None = None) -> None:
    """Show a form, perhaps for a tool call, and say what the user did."""
    call = tool_call_id and await turn.tool_call("Order", tool_call_id=tool_call_id).start()
    try:
        result = await turn.elicit("Please choose.", FORMS[name], call=call or None)
    except Exception as error:
        await turn.say(f"{type(error).__name__}: {error}")
    else:
        await turn.say(f"{result.action} {result.values!r}")


async def elicit_url(turn: Turn, url: str) -> None:
    """Let the user open an address, and say what they did."""
    try:
        action = await turn.elicit_url("Please log in.", url, elicitation_id="login")
    except CapabilityError as error:
        await turn.say(str(error))
    else:
        await turn.session.client.elicitation_complete(elicitation_id="login")
        await turn.say(action)


async def elicit_otherwise(turn: Turn, mode: str) -> None:
    """Ask in a way that no client knows."""
    try:
        await turn.session.client.elicitation_create(session_id=turn.session.id, mode=mode, message="Please sing.")
    except RequestError as error:
        await turn.say(str(error))


async def run(turn: Turn, *args: str, **options: Any) -> None:
    """Run a command, and say its result."""
    try:
        result: Any = asdict(await turn.run(*args, **options))
    except Exception as error:
        result = {"error": type(error).__name__, "known": [each.__name__ for each in type(error).__mro__]}
    await turn.say(json.dumps(result))


async def show(turn: Turn, *args: str, **options: Any) -> None:
    """Run a command in a tool call."""
    async with turn.tool_call("Run", kind="execute") as call:
        await run(turn, *args, call=call, **options)


async def leave(turn: Turn, line: str, started: str) -> None:
    """End the turn while a command runs, which makes a file when it has started."""
    _tasks.append(asyncio.create_task(turn.run(line, shell=True)))
    while not Path(started).exists():
        await asyncio.sleep(0)


async def hold(turn: Turn, line: str, started: str) -> None:
    """Say when a command runs, and wait for it."""
    await leave(turn, line, started)
    await turn.say("running")
    await _tasks[-1]


async def fail(turn: Turn, line: str, started: str) -> None:
    """Raise while a command runs."""
    await leave(turn, line, started)
    raise ValueError("no")


async def run_late(turn: Turn) -> None:
    """Run a command after an earlier turn, in it."""
    try:
        await _turns[-2].run("true")
    except RuntimeError as error:
        await turn.say(str(error))


_tasks: list[Any] = []
_turns: list[Turn] = []


class TurnAgent(ActingAgent):
    def __init__(self, client: v1.RemoteClient) -> None:
        super().__init__(client, [], [])

    async def act(self, turn: Turn, request: v1.PromptRequest) -> None:
        name, args, options = json.loads(to_text(request.prompt))
        _turns.append(turn)
        await globals()[name](turn, *args, **options)


class Runner(TerminalHandlers, Viewer):
    """A client with terminals."""

    def __init__(self, agent: v1.RemoteAgent, terminals: Terminals) -> None:
        super().__init__(agent)
        self.terminals = terminals


class Asked(ElicitationHandlers, Viewer):
    """A client that asks its user."""

    def __init__(self, agent: v1.RemoteAgent, **callbacks: Any) -> None:
        super().__init__(agent)
        self.elicitations = Elicitations(**callbacks)


def act(name: str, *args: str, **options: Any) -> str:
    """Return the prompt for a function of the agent."""
    return json.dumps([name, args, options])


def here(client: Any) -> AbstractAsyncContextManager[v1.RemoteAgent]:
    """An agent in this process."""
    return v1.connect_in_process(TurnAgent, client)


def spawned(client: Any) -> AbstractAsyncContextManager[v1.RemoteAgent]:
    """An agent in a process of its own."""
    return v1.spawn_agent(client, sys.executable, "-m", "tests.support.kit.turn_agent", cwd=str(ROOT))


@asynccontextmanager
async def opened(cwd: Path, client: Any = Viewer, connect: Connect = here) -> AsyncIterator[ClientSession]:
    """A session with an agent."""
    async with connect(client) as agent:
        await agent.initialize(protocol_version=1, client_capabilities=client_capabilities(agent.handler))
        async with open_session(agent, cwd=cwd) as session:
            yield session


@asynccontextmanager
async def opened_with_terminals(cwd: Path, connect: Connect = here) -> AsyncIterator[ClientSession]:
    """The same with a client that has terminals."""
    async with (
        Terminals(cwd, grace=0.05) as terminals,
        opened(cwd, lambda agent: Runner(agent, terminals), connect) as session,
    ):
        yield session


if __name__ == "__main__":
    asyncio.run(v1.serve_stdio(TurnAgent))
