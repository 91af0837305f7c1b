"""An agent that plays a script, and steps for scripts, some of which violate the protocol."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

from acp_bindings import v1
from acp_kit.agent import Sessions, Turn
from acp_kit.content import to_text
from acp_kit.testing.replay import Exit, Replay
from acp_runtime import Options, RequestError, current_request
from acp_runtime.transports import Transport

Step: TypeAlias = "str | v1.SessionUpdate | Exception | Callable[[Turn], Awaitable[object]]"


class ScriptedAgent:
    """An agent that plays a script, in any number of sessions and connections.

    Each argument is the step or the list of steps for one prompt. A step is text, an update, an exception to answer
    with, or an async function of a `Turn`; `acp_kit.testing` has some. Further prompts are answered with an error.

    Attributes:
        prompts: all prompts so far, of all sessions, in order.
        capabilities: the capabilities to advertise.
        where: the last step that was reached, such as: prompt 1 of 2 got to step 3 of 3, wait.
    """

    def __init__(self, *script: Step | Sequence[Step], capabilities: v1.AgentCapabilities | None = None) -> None:
        """Make an agent.

        Args:
            *script: the step or the steps for each prompt.
            capabilities: the capabilities to advertise; by default none.
        """
        self.prompts: list[v1.PromptRequest] = []
        self.capabilities: v1.AgentCapabilities = capabilities or v1.AgentCapabilities()
        self.where: str = "no prompt was sent"
        self._script: list[Any] = [steps if isinstance(steps, (list, tuple)) else [steps] for steps in script]
        self._remaining_steps = sum(map(len, self._script))
        self._prompt_came = asyncio.Event()

    @staticmethod
    def from_recording(file: str | Path) -> Replay:
        """Return an agent that plays a recording, such as one of `acp-bindings tap`.

        Raises:
            OSError: if the file can't be read.
            ValueError: if it isn't a recording.
        """
        return Replay(file)

    async def serve(self, transport: Transport, options: Options, exit: Exit) -> None:
        """Serve a client over a transport, until the connection ends. `exit` ends the process."""
        wire = _Wire(transport, exit)
        await v1.serve(lambda client: _Agent(self, client, wire), wire, options=options)

    async def begun(self, number: int) -> None:
        """Wait until the script has received `number` prompts. A prompt that is cancelled early may never reach it."""
        while len(self.prompts) < number:
            await self._prompt_came.wait()

    def assert_done(self) -> None:
        """Check that the client has sent as many prompts as the script has, and that all steps were played.

        Raises:
            AssertionError: if not. The message says how far the script got.
        """
        if self._remaining_steps or len(self.prompts) != len(self._script):
            sent = f"{len(self.prompts)} of {len(self._script)} prompts were sent"
            raise AssertionError(f"The script isn't done: {sent}, and {self.where}.")

    async def play(self, turn: Turn, request: v1.PromptRequest) -> None:
        """Play the steps of the next prompt. The agent calls this."""
        self.prompts.append(request)
        self._prompt_came.set()
        self._prompt_came = asyncio.Event()
        number, count = len(self.prompts), len(self._script)
        if number > count:
            text = to_text(request.prompt)[:80]
            raise RequestError(-32603, f"The script has no steps for prompt {number} of {count}: {text!r}")
        steps = self._script[number - 1]
        for place, step in enumerate(steps, 1):
            name = getattr(step, "__qualname__", repr(step)[:60]).removesuffix(".<locals>.step")
            self.where = f"prompt {number} of {count} got to step {place} of {len(steps)}, {name}"
            self._remaining_steps -= 1
            if isinstance(step, Exception):
                raise step
            if isinstance(step, str):
                await turn.say(step)
            elif hasattr(step, "session_update"):
                await turn.send(step)
            else:
                await step(turn)


class _Agent(v1.Agent):
    """One connection of a scripted agent."""

    def __init__(self, script: ScriptedAgent, client: v1.RemoteClient, wire: _Wire) -> None:
        self.wire = wire
        self._script = script
        self._client = client
        self._sessions = Sessions()

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=self._script.capabilities)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id=self._sessions.create(self._client, cwd=request.cwd).id)

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        async with self._sessions[request.session_id].turn(request.prompt) as turn:
            await self._script.play(turn, request)
        return turn.response


class _Wire:
    """The agent's transport, on which steps can violate the protocol.

    Attributes:
        write: sends bytes.
        exit: ends the agent, with an exit code.
        replacements: functions to call instead of sending a line, by its method, or for a response by its id.
    """

    def __init__(self, transport: Transport, exit: Exit) -> None:
        self.receive = transport.receive
        self.close = transport.close
        self.write = transport.send
        self.exit = exit
        self.replacements: dict[Any, Callable[[bytes], Awaitable[object]]] = {}

    async def send(self, data: bytes, /) -> None:
        """Send messages."""
        for line in data.splitlines(keepends=True):
            message = json.loads(line)
            key = message["method"] if "method" in message else message["id"]
            send = self.replacements.pop(key, self.write)
            await send(line)


async def wait(turn: Turn) -> None:
    """Wait until the client cancels the turn, and answer `cancelled`."""
    await asyncio.Event().wait()


async def ignore_cancel(turn: Turn) -> None:
    """Wait until the client cancels the turn, and continue. The response violates the protocol: it says `end_turn`."""
    wire, id = _wire(turn)
    answer = {"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}}
    wire.replacements[id] = lambda line: wire.write(json.dumps(answer).encode() + b"\n")
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()


def slow(text: str, seconds: float = 0.05) -> Step:
    """Say a text word by word, with a pause after each word, in seconds."""

    async def step(turn: Turn) -> None:
        for word in re.findall(r"\s*\S+\s*", text):
            await turn.say(word)
            await asyncio.sleep(seconds)

    return step


def die(code: int = 1) -> Step:
    """End without a response. In the client's process the connection ends; another process ends with the exit code."""

    async def step(turn: Turn) -> None:
        await _on_wire(turn, lambda wire: wire.exit(code))
        await asyncio.Event().wait()

    return step


def garbage(data: bytes = b"npm warn deprecated\n") -> Step:
    """Write bytes between the messages."""

    async def step(turn: Turn) -> None:
        await _on_wire(turn, lambda wire: wire.write(data))

    return step


def late(text: str) -> Step:
    """Say a text after the response, which violates the protocol."""

    async def step(turn: Turn) -> None:
        wire, id = _wire(turn)
        update = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=text))
        params = v1.SessionNotification(session_id=turn.session.id, update=update).model_dump_json()
        message = f'{{"jsonrpc":"2.0","method":"session/update","params":{params}}}\n'
        wire.replacements[id] = lambda line: wire.write(line + message.encode())

    return step


def reuse_id(tool_call_id: str = "call-1") -> Step:
    """Report two tool calls, one after the other, with the same id."""

    async def step(turn: Turn) -> None:
        for title in ("First", "Second"):
            await turn.send(v1.SessionUpdateToolCall(tool_call_id=tool_call_id, title=title, status="in_progress"))
            await turn.send(v1.SessionUpdateToolCallUpdate(tool_call_id=tool_call_id, status="completed"))

    return step


def _wire(turn: Turn) -> tuple[_Wire, Any]:
    """Return the agent's wire, and the id of the prompt."""
    agent: Any = turn.session.client.handler
    request: Any = current_request()
    return agent.wire, request.id


async def _on_wire(turn: Turn, act: Callable[[_Wire], Awaitable[object]]) -> None:
    """Call a function with the wire, after everything that was sent before.

    It replaces a notification, because messages are sent in order.
    """
    wire, _ = _wire(turn)
    method = f"_acp_kit/{uuid4()}"
    wire.replacements[method] = lambda line: act(wire)
    await turn.session.client.ext_notification(method)
