"""Measure the steps of sending and receiving a message, in one process: `python -m benchmarks.profile`.

Prints microseconds of CPU per message, the best of several runs, and how many Python functions are called for it. It
imports only public names, so it can measure any commit: put that commit's `generated` and `runtime` first on
PYTHONPATH.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from acp_bindings.v1 import (
    Agent,
    Client,
    ContentBlockText,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteAgent,
    RemoteClient,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    SessionUpdateAgentMessageChunk,
    connect_in_process,
)
from benchmarks import lines

RUNS = 7
# The messages in a run, and those whose function calls are counted.
COUNT = 5_000
COUNTED_MESSAGES = 200
IN_FLIGHT = 64


class Message(TypedDict):
    """The frame of an update."""

    jsonrpc: str
    method: str
    params: SessionNotification


class StreamingAgent(Agent):
    """Streams the number of updates that is in the prompt."""

    def __init__(self, client: RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(protocol_version=1)

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        return NewSessionResponse(session_id=lines.SESSION)

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        block = request.prompt[0]
        assert isinstance(block, ContentBlockText)
        for _ in range(int(block.text)):
            await self.client.session_update(session_id=request.session_id, update=chunk())
        return PromptResponse(stop_reason="end_turn")


class SilentClient(Client):
    """Ignores updates."""

    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent

    async def session_update(self, notification: SessionNotification) -> None:
        """Do nothing."""

    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        raise NotImplementedError


def chunk() -> SessionUpdateAgentMessageChunk:
    return SessionUpdateAgentMessageChunk(content=ContentBlockText(text="a few words of what the agent says"))


def build_update() -> SessionNotification:
    return SessionNotification(session_id=lines.SESSION, update=chunk())


async def send_prompts(agent: RemoteAgent, count: int, updates: int) -> None:
    """Send prompts, one after the other. During each turn, the agent sends this many updates."""
    for _ in range(count):
        await agent.session_prompt(session_id=lines.SESSION, prompt=[ContentBlockText(text=str(updates))])


async def send_concurrent_prompts(agent: RemoteAgent) -> None:
    await asyncio.gather(*(send_prompts(agent, COUNT // IN_FLIGHT, 0) for _ in range(IN_FLIGHT)))


def list_steps(agent: RemoteAgent) -> dict[str, Callable[[], Awaitable[None]]]:
    update_lines = lines.chunks(COUNT).splitlines()
    validate = TypeAdapter(Message).validate_json
    notification = build_update()

    async def validate_updates() -> None:
        for line in update_lines:
            validate(line)

    async def build_updates() -> None:
        for _ in range(COUNT):
            build_update()

    async def dump_updates() -> None:
        for _ in range(COUNT):
            notification.model_dump_json()

    return {
        "validate an update": validate_updates,
        "build an update (three models)": build_updates,
        "dump an update": dump_updates,
        "stream an update, both ends": lambda: send_prompts(agent, 1, COUNT),
        "round trip of a prompt, both ends": lambda: send_prompts(agent, COUNT, 0),
        f"round trip, {IN_FLIGHT} in flight": lambda: send_concurrent_prompts(agent),
    }


async def measure(step: Callable[[], Awaitable[None]]) -> float:
    """Return the microseconds of CPU per message, in the best run."""
    costs: list[float] = []
    for _ in range(RUNS):
        started = time.process_time()
        await step()
        costs.append(time.process_time() - started)
    return min(costs) / COUNT * 1e6


async def count_calls(work: Awaitable[None]) -> Counter[str]:
    """Count the calls of Python functions while some work is done, by the package of the function."""
    counts: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            counts[frame.f_globals.get("__name__", "").partition(".")[0]] += 1

    sys.setprofile(count)
    try:
        await work
    finally:
        sys.setprofile(None)
    return counts


async def main() -> None:
    async with connect_in_process(StreamingAgent, SilentClient) as agent:
        await agent.initialize(protocol_version=1)
        await agent.session_new(cwd="/", mcp_servers=[])
        for name, step in list_steps(agent).items():
            print(f"{name:36}{await measure(step):6.1f} µs")
        print()
        counted = {
            "an update": await count_calls(send_prompts(agent, 1, COUNTED_MESSAGES)),
            "a request and its response": await count_calls(send_prompts(agent, COUNTED_MESSAGES, 0)),
        }
        for name, counts in counted.items():
            ours = (counts["acp_runtime"] + counts["acp_bindings"]) / COUNTED_MESSAGES
            of_asyncio = counts["asyncio"] / COUNTED_MESSAGES
            print(f"calls for {name:36}{ours:6.1f} of ours, {of_asyncio:.1f} of asyncio")


if __name__ == "__main__":
    asyncio.run(main())
