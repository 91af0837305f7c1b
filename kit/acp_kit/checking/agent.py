"""The agent under test, from the side of its client."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

from acp_kit.checking.peer import INFO, PROMPT, Json, Peer, Skipped, Version, Violation, short
from acp_kit.common.json_values import items_of, member
from acp_kit.recording.file_format import Direction

AUTHENTICATION_REQUIRED = -32000


@dataclass(frozen=True)
class AgentCommand:
    """How to start and use the agent.

    Attributes:
        arguments: the command.
        prompt: a text that it answers quickly.
        long_prompt: a text with which it is busy for as long as it takes to cancel it.
        login: the id of the login method to use before a session is opened; None for none.
        deadline: how long one step of a scenario may take, in seconds.
        quiet_time: how long to wait to see that the agent sends nothing, in seconds.
        version: the version of the protocol that the client asks for.
    """

    arguments: Sequence[str]
    prompt: str = PROMPT
    long_prompt: str = "Count slowly from 1 to 1000, one number a line, and explain each number."
    login: str | None = None
    deadline: float = 60.0
    quiet_time: float = 1.0
    version: Version = 1


class Agent(Peer):
    """The agent under test. Its client advertises nothing, and rejects what the agent asks permission for.

    Attributes:
        command: how it was started.
        cwd: the working directory of its sessions.
        initialized: the result of `initialize`.
        opened: the result of the last `session/new`.
    """

    name = "agent"
    direction: ClassVar[Direction] = "a2c"

    def __init__(self, command: AgentCommand, cwd: str) -> None:
        super().__init__(command.version, command.deadline, command.quiet_time)
        self.command = command
        self.cwd = cwd
        self.initialized: Json = {}
        self.opened: Json = {}
        self._ids = count()

    async def call(self, method: str, **params: Any) -> Json:
        """Send a request, and return the result.

        Raises:
            Violation: if the response is an error.
        """
        answer = await self.request(self.request_of(method, **params))
        if "error" in answer:
            raise Violation(f"{method} was answered with {short(answer)}")
        return member(answer, "result") or {}

    def request_of(self, method: str, **params: Any) -> Json:
        """Return a request with a new id."""
        return {"id": next(self._ids), "method": method, "params": params}

    def initialize_request(self, version: int | None = None) -> Json:
        """Return an `initialize` without capabilities. Agents of both versions can read it."""
        version = self.version if version is None else version
        params: Json = {"clientCapabilities": {}} if version == 1 else {"info": INFO, "capabilities": {}}
        return self.request_of("initialize", protocolVersion=version, **params)

    async def initialize(self) -> None:
        """Open the connection, and log in if the command says so."""
        answer = await self.request(self.initialize_request())
        if member(answer, "result", "protocolVersion") != self.version:
            raise Violation(f"asked for version {self.version}, the agent answers {short(answer)}")
        self.initialized = answer["result"]
        if self.command.login is not None:
            await self.call("authenticate" if self.version == 1 else "auth/login", methodId=self.command.login)

    async def open(self, **params: Any) -> str:
        """Open a session, and return its id. The first call initializes."""
        if not self.initialized:
            await self.initialize()
        self.opened = await self.result_of_opening(self.session_request(**params))
        return str(self.opened["sessionId"])

    def session_request(self, **params: Any) -> Json:
        """Return a `session/new`."""
        return self.request_of("session/new", cwd=self.cwd, mcpServers=[], **params)

    async def result_of_opening(self, request: Json) -> Json:
        """Send a request that opens a session, and return its result."""
        answer = await self.request(request)
        if member(answer, "error", "code") == AUTHENTICATION_REQUIRED and self.command.login is None:
            methods = [str(member(login, "id" if self.version == 1 else "methodId")) for login in self.logins()]
            raise Skipped(f"the agent requires a login. Pass --login with one of: {', '.join(methods)}")
        if not isinstance(member(answer, "result", "sessionId"), str):
            raise Violation(f"{request['method']} was answered with {short(answer)}")
        result: Json = answer["result"]
        return result

    def question(self, id: str | int) -> Json:
        """Return a `session/new`."""
        return {**self.session_request(), "id": id}

    async def ask(self, question: Json) -> Json:
        """Open a session."""
        return await self.result_of_opening(question)

    def logins(self) -> list[Any]:
        """Return the login methods."""
        return items_of(self.initialized, "authMethods")

    def capability(self, *steps: str) -> Any:
        """Return a capability of the agent, such as `loadSession`; None if it isn't advertised."""
        return member(self.initialized, "agentCapabilities" if self.version == 1 else "capabilities", *steps)

    def prompt_request(self, session: str, text: str | None = None, *blocks: Json) -> Json:
        """Return a prompt."""
        content = [{"type": "text", "text": text or self.command.prompt}, *blocks]
        return self.request_of("session/prompt", sessionId=session, prompt=content)

    async def run(self, prompt: Json) -> str:
        """Send a prompt, and return the stop reason when the turn has ended."""
        answer = await self.request(prompt)
        if "error" in answer:
            raise Violation(f"session/prompt was answered with {short(answer)}")
        return await self.stop_reason(answer)

    async def stop_reason(self, answer: Json) -> str:
        """Return the stop reason of a turn, given the response to its prompt. In version 2, an update has it."""
        if self.version == 1:
            return str(member(answer, "result", "stopReason"))
        try:
            async with asyncio.timeout(self.deadline):
                while True:
                    update = member(await self.receive("session/update"), "params", "update")
                    if member(update, "state") == "idle":
                        return str(member(update, "stopReason"))
        except TimeoutError:
            raise Violation(f"waited {self.deadline:g} seconds for the end of the turn") from None

    def updates(self, session: str) -> list[Json]:
        """Return the updates of a session so far."""
        updates = [message.get("params") for message in self.messages if message.get("method") == "session/update"]
        return [member(params, "update") for params in updates if member(params, "sessionId") == session]

    async def wait_for_exit(self) -> None:
        """Close its stdin, and wait until it exits."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), self.deadline)
        except TimeoutError:
            raise Violation(f"waited {self.deadline:g} seconds for the agent to exit") from None

    def _receive(self, message: Json) -> None:
        if "id" in message and message.get("method") == "session/request_permission":
            self.send({"id": message["id"], "result": {"outcome": _rejection(message)}})
        elif "id" in message and "method" in message:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        super()._receive(message)


def _rejection(request: Json) -> Json:
    for option in items_of(request, "params", "options"):
        id = member(option, "optionId")
        if str(member(option, "kind")).startswith("reject") and isinstance(id, str):
            return {"outcome": "selected", "optionId": id}
    return {"outcome": "cancelled"}
