"""An agent that does what a script says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from pathlib import Path
from typing import Any, TypeAlias, cast

from acp_bindings import v1
from acp_kit.agent import Sessions, Turn, TurnCancelled
from acp_kit.content import to_text
from acp_kit.testing.replay import Replay
from acp_kit.testing.wire import Exit, Wire
from acp_runtime import Options, RequestError
from acp_runtime.transports import Transport

Step: TypeAlias = "str | v1.SessionUpdate | Exception | Callable[[Turn], Awaitable[object]]"


class ScriptedAgent:
    """An agent that plays a script, in as many sessions and connections as its client opens.

    Each argument is what happens at one prompt: a step, or a list of steps. A step is text, an update, an exception
    that is the answer, or an async function of a `Turn`; `acp_kit.testing.steps` has some. More prompts than the script
    has are answered with an error.

    It is a factory, so it can be passed to `v1.connect_in_process` and the like. Steps that break the protocol need
    `connect` or the command `acp-bindings agent`.

    Attributes:
        prompts: all prompts so far, of all sessions, in order.
        capabilities: what it advertises.
    """

    def __init__(self, *script: Step | Sequence[Step], capabilities: v1.AgentCapabilities | None = None) -> None:
        """Make an agent.

        Args:
            *script: what happens at each prompt.
            capabilities: what it advertises; by default nothing.

        Raises:
            TypeError: Something is not a step. The message says where.
        """
        self.prompts: list[v1.PromptRequest] = []
        self.capabilities: v1.AgentCapabilities = capabilities or v1.AgentCapabilities()
        self._script = [_steps(number, steps) for number, steps in enumerate(script, 1)]
        self._has_begun = asyncio.Event()
        self._undone: dict[int, str] = {}  # where the prompts are that are not played to their ends

    @staticmethod
    def from_recording(file: str | Path) -> Replay:
        """Return an agent that plays a recording, such as one of `acp-bindings tap`.

        Raises:
            OSError: if the file can't be read.
            ValueError: if it isn't a recording.
        """
        return Replay(file)

    def __call__(self, client: v1.RemoteClient) -> v1.Agent:
        """Make the agent's side of a connection."""
        return _Agent(self, client, has_wire=False)

    async def serve(self, transport: Transport, options: Options, exit: Exit) -> None:
        """Serve a client over a transport, until the connection ends. `exit` ends the process."""
        await v1.serve(lambda client: _Agent(self, client, has_wire=True), Wire(transport, exit), options=options)

    async def begun(self, number: int) -> None:
        """Wait until so many prompts have reached the script. One that is cancelled at once may never do so."""
        while len(self.prompts) < number:
            await self._has_begun.wait()

    @property
    def where(self) -> str:
        """Where the script is, such as: prompt 1 of 2 is at step 3 of 3, wait."""
        return " and ".join(self._undone.values()) or f"{len(self.prompts)} of {len(self._script)} prompts were sent"

    def assert_done(self) -> None:
        """Check that each prompt of the script was sent and played to its end, and no other one was sent.

        Raises:
            AssertionError: with what is missing.
        """
        if self._undone or len(self.prompts) != len(self._script):
            raise AssertionError(f"The script isn't done: {self.where}.")

    async def play(self, turn: Turn, request: v1.PromptRequest) -> None:
        """Play the steps of the next prompt. The agent calls this."""
        self.prompts.append(request)
        self._has_begun.set()
        self._has_begun = asyncio.Event()
        number = len(self.prompts)
        name = f"prompt {number} of {len(self._script)}"
        if number > len(self._script):
            text = to_text(request.prompt)[:80]
            raise RequestError(-32603, f"The script has no steps for this, which is {name}: {text!r}")
        steps = self._script[number - 1]
        for place, step in enumerate(steps, 1):
            where = f"at step {place} of {len(steps)}, {_name(step)}"
            self._undone[number] = f"{name} is {where}"
            try:
                await _perform(step, turn)
            except BaseException as error:
                is_cancelled = isinstance(error, (asyncio.CancelledError, TurnCancelled))
                self._undone[number] = f"{name} {'was cancelled' if is_cancelled else f'raised {error!r}'} {where}"
                if place == len(steps) and (is_cancelled or error is step):
                    del self._undone[number]
                raise
        self._undone.pop(number, None)


class _Agent(v1.Agent):
    """One connection of a scripted agent."""

    def __init__(self, script: ScriptedAgent, client: v1.RemoteClient, *, has_wire: bool) -> None:
        self.has_wire = has_wire
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


def _steps(number: int, script: Step | Sequence[Step]) -> list[Step]:
    is_list = isinstance(script, Sequence) and not isinstance(script, (str, bytes))
    steps: list[Any] = [*cast("Sequence[Step]", script)] if is_list else [script]
    for place, step in enumerate(steps, 1):
        if not isinstance(step, (str, Exception)) and not hasattr(step, "session_update") and not callable(step):
            raise TypeError(
                f"Step {place} of prompt {number} is {step!r}. "
                "A step is text, an update, an exception, or an async function of a Turn."
            )
    return steps


async def _perform(step: Any, turn: Turn) -> None:
    if isinstance(step, str):
        await turn.say(step)
    elif isinstance(step, Exception):
        raise step
    elif not callable(step):
        await turn.send(step)
    elif isawaitable(done := step(turn)):
        await done
    else:
        raise TypeError(f"{_name(step)} is not an async function of a Turn: it has returned {done!r}.")


def _name(step: Any) -> str:
    if hasattr(step, "session_update"):
        return f"{step.session_update}"
    return getattr(step, "__qualname__", None) or repr(step)[:60]
