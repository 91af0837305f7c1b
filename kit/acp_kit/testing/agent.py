"""An agent that plays a script."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from inspect import isawaitable
from typing import Any, TypeAlias, cast

from acp_bindings import v1
from acp_bindings.v1.connecting import AGENT_SIDE
from acp_kit.agent import Session, Sessions, Settings, Turn
from acp_kit.common.json_values import member
from acp_kit.common.sequences import check_sequence
from acp_kit.content import to_text
from acp_kit.testing import steps as ready_steps
from acp_kit.testing.steps import Exit, Step, Wire
from acp_runtime import Model, Options, RequestError
from acp_runtime.transports import Transport

Answer: TypeAlias = "Model | Exception | Callable[[Any], Awaitable[Model | None]] | None"

_REQUESTS = {method.name: method for method in AGENT_SIDE.requests.values() if method.wire != "session/prompt"}


class ScriptedAgent:
    """An agent that plays a script, in any number of sessions and connections.

    Each argument is the step or the list of steps for one prompt. A step is text, an update, an exception to answer
    with, or an async function of a `Turn`; `acp_kit.testing` has some. If `session/load` is advertised, it plays the
    next steps, too. Prompts beyond the end of the script are answered with an error.

    Attributes:
        requests: all requests so far, of all connections, in order.
        capabilities: the capabilities to advertise.
        where: the last step that was reached, such as: prompt 1 of 2 got to step 3 of 3, wait.
    """

    def __init__(
        self,
        *script: Step | Sequence[Step],
        capabilities: v1.AgentCapabilities | None = None,
        options: Iterable[v1.SessionConfigOption] = (),
        **answers: Answer | Sequence[Answer],
    ) -> None:
        """Make an agent.

        Args:
            *script: the step or the steps for each prompt.
            capabilities: the capabilities to advertise; by default none.
            options: the config options of each session, see `acp_kit.agent.select`. One with the category `mode` is
                also offered as its modes.
            **answers: the answers to other requests, named like the handlers: `session_new` for `session/new`. Each
                is a response, an exception, None for the usual answer, or an async function of the request that
                returns one of these. A list has the answers to the first requests; the others get the usual answer.

        Raises:
            TypeError: if there is no request for an answer, or something is neither an answer nor a step.
            ValueError: if `session/load` is advertised, but the script has no steps to play.
        """
        if unknown := answers.keys() - _REQUESTS.keys():
            raise TypeError(f"No request is called {', '.join(unknown)}. The requests are {', '.join(_REQUESTS)}.")
        self.requests: list[Any] = []
        self.capabilities: v1.AgentCapabilities = capabilities or v1.AgentCapabilities()
        self.where: str = "no prompt was sent"
        self._options = [*check_sequence("options", options)]
        self._answers: dict[str, Any] = {
            name: [*answer] if isinstance(answer, (list, tuple)) else answer for name, answer in answers.items()
        }
        self._script: list[Any] = [steps if isinstance(steps, (list, tuple)) else [steps] for steps in script]
        for name, scripted in self._answers.items():
            listed: list[Any] = [*scripted] if isinstance(scripted, list) else [scripted]
            for answer in listed:
                _check_answer(name, answer)
        for step in (step for steps in self._script for step in steps):
            is_update = isinstance(step, Model) and hasattr(step, "session_update")
            if not (isinstance(step, (str, Exception)) or is_update or _is_function(step)):
                kinds = "a text, an update, an exception, or an async function of a Turn"
                raise TypeError(f"A step must be {kinds}, not {step!r:.80}.")
        self._played = 0
        self._remaining_steps = sum(map(len, self._script))
        self._request_came = asyncio.Event()
        load = AGENT_SIDE.requests["session/load"]
        if self._is_advertised(load) and not (script or "session_load" in answers):
            raise ValueError("The agent advertises session/load, which plays the next steps, but the script has none.")

    @property
    def prompts(self) -> list[v1.PromptRequest]:
        """All prompts so far, of all sessions, in order."""
        return [request for request in self.requests if isinstance(request, v1.PromptRequest)]

    async def serve(self, transport: Transport, options: Options, exit: Exit) -> None:
        """Serve a client over a transport, until the connection ends. `exit` ends the process."""
        wire = Wire(transport, exit)
        methods = [method for method in AGENT_SIDE.requests.values() if self._is_answered(method)]
        cls: Any = type("ScriptedAgent", (_Connection,), {method.name: _make_handler(method) for method in methods})
        await v1.serve(lambda client: cls(self, client, wire, self._options), wire, options=options)

    async def wait_for_prompts(self, count: int) -> None:
        """Wait until there are as many `prompts`. A prompt that is cancelled early may never come."""
        while len(self.prompts) < count:
            await self._request_came.wait()

    def assert_done(self) -> None:
        """Check that the client has sent as many prompts as the script has, and that all steps were played.

        Raises:
            AssertionError: if not. The message says how far the script got.
        """
        if self._remaining_steps or self._played != len(self._script):
            sent = f"{self._played} of {len(self._script)} prompts were sent"
            raise AssertionError(f"The script isn't done: {sent}, and {self.where}.")

    def record(self, request: Model) -> None:
        """Add a request to `requests`. The agent calls this."""
        self.requests.append(request)
        self._request_came.set()
        self._request_came = asyncio.Event()

    async def next_answer(self, method: str, request: Model) -> Model | None:
        """Take the next scripted answer to a method, and return it; None for the usual one. The agent calls this."""
        answer: Any = self._answers.get(method)
        if isinstance(answer, list):
            answers = cast("list[object]", answer)
            answer = answers.pop(0) if answers else None
        if callable(answer):
            respond: Any = answer
            answer = await respond(request)
        if isinstance(answer, Exception):
            raise answer
        return cast("Model | None", answer)

    async def play(self, turn: Turn, request: v1.PromptRequest | v1.LoadSessionRequest) -> None:
        """Play the next steps. The agent calls this."""
        self._played += 1
        number = self._played
        count = len(self._script)
        name = "session/load"
        text = "session/load"
        if isinstance(request, v1.PromptRequest):
            name = "prompt"
            text = to_text(request.prompt)[:80]
        if number > count:
            raise RequestError(-32603, f"The script has no steps for prompt {number} of {count}: {text!r}")
        steps = self._script[number - 1]
        for step_number, step in enumerate(steps, 1):
            self.where = f"{name} {number} of {count} got to step {step_number} of {len(steps)}, {_title(step)}"
            self._remaining_steps -= 1
            if isinstance(step, Exception):
                raise step
            if isinstance(step, str):
                await turn.say(step)
            elif hasattr(step, "session_update"):
                await turn.send(step)
            else:
                done = step(turn)
                if not isawaitable(done):
                    raise TypeError(f"The step {_title(step)} must be an async function.")
                await done

    def initialize_response(self) -> v1.InitializeResponse:
        """Return the usual answer to `initialize`."""
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=self.capabilities)

    def _is_answered(self, method: Any) -> bool:
        if method.name in self._answers or method.baseline:
            return True
        is_setter = method.name in ("session_set_mode", "session_set_config_option")
        return bool(self._options) if is_setter else self._is_advertised(method)

    def _is_advertised(self, method: Any) -> bool:
        if not isinstance(method.capability, str):
            return False
        answer = self._answers.get("initialize")
        response = answer if isinstance(answer, v1.InitializeResponse) else self.initialize_response()
        return member(response.model_dump(), *method.capability.split(".")) not in (None, False, [])


def _title(step: Any) -> str:
    """Return the name of a step for messages."""
    if getattr(step, "__module__", None) == ready_steps.__name__:
        return str(step.__qualname__.removesuffix(".<locals>.step"))
    return getattr(step, "__name__", repr(step)[:60])


def _check_answer(name: str, answer: object) -> None:
    result = _REQUESTS[name].result
    is_response = isinstance(answer, Model) and type(answer).__name__ == result
    if not (answer is None or is_response or isinstance(answer, Exception) or _is_function(answer)):
        kinds = f"{result}, an exception, None, or an async function of the request"
        raise TypeError(f"An answer to {name} must be a {kinds}, not {answer!r:.80}.")


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, type)


def _make_handler(method: Any) -> Any:
    async def handle(self: _Connection, request: Any) -> Any:
        return await self.answer(method, request)

    return handle


class _Connection(v1.Agent):
    """One connection of a scripted agent, with its usual answers. A subclass has the handlers."""

    def __init__(
        self,
        script: ScriptedAgent,
        client: v1.RemoteClient,
        wire: Wire,
        options: Sequence[v1.SessionConfigOption],
    ) -> None:
        self.wire = wire
        self.script = script
        self._client = client
        self._options = options
        self._sessions = Sessions()
        self._settings: dict[str, Settings] = {}

    async def answer(self, method: Any, request: Any) -> Any:
        """Record a request, and answer it as the script says, or as usual."""
        self.script.record(request)
        answer = await self.script.next_answer(method.name, request)
        if answer is None:
            return await getattr(self, f"_{method.name}")(request)
        if isinstance(answer, (v1.NewSessionResponse, v1.LoadSessionResponse, v1.ResumeSessionResponse)):
            opened = answer if isinstance(answer, v1.NewSessionResponse) else request
            settings = self._settings_of(self._open(request, opened.session_id))
            return answer.model_copy(
                update={name: settings[name] for name in settings.keys() - answer.model_fields_set}
            )
        return answer

    def _open(self, request: Any, session_id: str | None) -> Session:
        session = self._sessions.create(
            self._client,
            cwd=request.cwd,
            additional_directories=request.additional_directories,
            session_id=session_id,
        )
        self._settings[session.id] = Settings(session, self._options)
        return session

    def _settings_of(self, session: Session) -> dict[str, Any]:
        """Return the fields with the settings in the answer that opens a session."""
        settings = self._settings[session.id]
        fields = {"config_options": settings.config_options, "modes": settings.modes}
        return {name: value for name, value in fields.items() if value}

    async def _initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return self.script.initialize_response()

    async def _authenticate(self, request: v1.AuthenticateRequest) -> v1.AuthenticateResponse:
        return v1.AuthenticateResponse()

    async def _logout(self, request: v1.LogoutRequest) -> v1.LogoutResponse:
        return v1.LogoutResponse()

    async def _session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        session = self._open(request, None)
        return v1.NewSessionResponse(session_id=session.id, **self._settings_of(session))

    async def _session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        session = self._open(request, request.session_id)
        async with session.turn() as turn:
            await self.script.play(turn, request)
        return v1.LoadSessionResponse(meta=turn.response.meta, **self._settings_of(session))

    async def _session_resume(self, request: v1.ResumeSessionRequest) -> v1.ResumeSessionResponse:
        return v1.ResumeSessionResponse(**self._settings_of(self._open(request, request.session_id)))

    async def _session_list(self, request: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
        sessions = [v1.SessionInfo(session_id=id, cwd=str(session.cwd)) for id, session in self._sessions.items()]
        return v1.ListSessionsResponse(sessions=sessions)

    async def _session_close(self, request: v1.CloseSessionRequest) -> v1.CloseSessionResponse:
        self._sessions.remove(request.session_id)
        return v1.CloseSessionResponse()

    async def _session_delete(self, request: v1.DeleteSessionRequest) -> v1.DeleteSessionResponse:
        self._sessions.remove(request.session_id)
        return v1.DeleteSessionResponse()

    async def _session_set_mode(self, request: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        return await self._settings[request.session_id].set_mode(request)

    async def _session_set_config_option(
        self, request: v1.SetSessionConfigOptionRequest
    ) -> v1.SetSessionConfigOptionResponse:
        return await self._settings[request.session_id].set_config_option(request)

    async def _session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        async with self._sessions[request.session_id].turn(request.prompt) as turn:
            await self.script.play(turn, request)
        return turn.response
