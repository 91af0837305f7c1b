"""The client under test, from the side of its agent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from acp_kit.checking.peer import INFO, Json, Peer, Version, Violation
from acp_kit.recording.file_format import Direction
from acp_kit.testing import relay
from acp_kit.testing.subprocesses import signal_group

SESSION = "session-1"
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")
_STEPS = ("initialize", "session/new", "session/load", "session/prompt")


@dataclass(frozen=True)
class ClientCommand:
    """How to start and use the client.

    Attributes:
        arguments: the command. In each argument, `{agent}` is replaced by the path of a program that is the agent, and
            `{prompt}` by a text.
        load_arguments: the command that loads the session `{session}` before it prompts; None if there is none.
        stdin: a line to type into its stdin at the start, in which `{prompt}` is replaced; None for nothing.
        answer: a line to type when the agent asks for permission; None for nothing.
        deadline: how long one step of a scenario may take, in seconds.
        quiet_time: how long to wait to see that the client sends nothing, in seconds.
        by_hand: whether a person uses it. Then it has this terminal, and stays open.
        version: the version of the protocol that the agent answers with.
    """

    arguments: Sequence[str]
    load_arguments: Sequence[str] | None = None
    stdin: str | None = None
    answer: str | None = None
    deadline: float = 10.0
    quiet_time: float = 1.0
    by_hand: bool = False
    version: Version = 1


class Client(Peer):
    """The client under test.

    Attributes:
        command: how it was started.
        results: the results with which its requests are answered immediately, by method. Without one, `initialize`,
            `session/new` and `session/prompt` wait for the scenario, and other requests get an error.
        accepts_prompts: whether prompts of version 2 are accepted immediately.
    """

    name = "client"
    direction: ClassVar[Direction] = "c2a"

    def __init__(self, command: ClientCommand) -> None:
        super().__init__(command.version, command.deadline, command.quiet_time)
        self.command = command
        initialized: Json = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
        if command.version == 2:
            initialized = {"protocolVersion": 2, "info": INFO, "capabilities": {"session": {}}}
        self.results: dict[str, Json] = {"initialize": initialized, "session/new": {"sessionId": SESSION}}
        self.accepts_prompts = True
        self._ends_prompts = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read the client's messages, until it closes its side."""
        if self._writer is not None:  # the client has started a second agent, which does nothing
            writer.close()
            return
        await super().serve(reader, writer)

    async def watch(self) -> None:
        """Wait until the process ends, and note whether it has started its agent."""
        code = await self.process.wait()
        if self._writer is None:
            self._note_disconnection(f"ended with exit code {code} and started no agent")

    def send(self, *messages: Json | bytes) -> None:
        """Send messages, or any bytes, with one write."""
        super().send(*messages)
        questions = sum(b"/request_permission" in entry.data for entry in self.entries[-len(messages) :])
        if self.command.answer is not None and questions:
            answers = "\n".join([self.command.answer] * questions)
            asyncio.get_running_loop().call_later(self.quiet_time / 4, self.type, answers)

    def type(self, line: str) -> None:
        """Type a line into its stdin."""
        if self.process.stdin:
            self.process.stdin.write(f"{line}\n".encode())

    def interrupt(self) -> None:
        """Do what Ctrl-C does in a terminal."""
        if not self.command.by_hand:
            signal_group(self.process, "SIGINT")

    def end_agent(self) -> None:
        """End the agent's process with exit code 1."""
        if self._writer is not None:
            self._writer.write(relay.END + b"1")
            self._writer.close()

    async def end_turn(self, prompt: Json, *after: Json) -> None:
        """End a turn, send other messages after its end, and check that the client exits with 0."""
        self.send(self.turn_end(prompt), *after)
        if code := await self.wait_for_exit():
            raise Violation(f"the client ended with exit code {code}")

    async def wait_for_exit(self) -> int:
        """Wait until the client exits, and return its exit code. If it stays open, check that it still answers."""
        self._ends_prompts = True
        if self.command.by_hand:
            await self.request({"id": "end", "method": "_acp_bindings/are_you_there", "params": {}})
            return 0
        if self.process.stdin:
            self.process.stdin.close()
        try:
            return await asyncio.wait_for(self.process.wait(), self.command.deadline)
        except TimeoutError:
            raise Violation(f"waited {self.command.deadline:g} seconds for the client to exit") from None

    def turn_end(self, prompt: Json, stop_reason: str = "end_turn") -> Json:
        """Return the message that ends a turn."""
        if self.version == 2:
            return update("state_update", state="idle", stopReason=stop_reason)
        return {"id": prompt.get("id"), "result": {"stopReason": stop_reason}}

    def text(self, text: str) -> Json:
        """Return an update with a text of the agent."""
        fields = {"messageId": "message-1"} if self.version == 2 else {}
        return update("agent_message_chunk", content={"type": "text", "text": text}, **fields)

    def question(self, id: int | str) -> Json:
        """Return a request for permission."""
        return self.permission(id)

    def permission(self, id: int | str, kinds: Sequence[str] = KINDS, session: str = SESSION) -> Json:
        """Return a request for permission to edit a file. The id of each option is `my-` and its kind."""
        options = [{"optionId": f"my-{kind}", "name": kind.replace("_", " "), "kind": kind} for kind in kinds]
        call = {"toolCallId": f"call-{id}", "title": "Edit a.txt", "kind": "edit", "status": "pending"}
        subject: Json = {"toolCall": call}
        if self.version == 2:
            subject = {"title": "Edit a.txt?", "subject": {"type": "tool_call", "toolCall": call}}
        params = {"sessionId": session, **subject, "options": options}
        return {"id": id, "method": "session/request_permission", "params": params}

    def _receive(self, message: Json) -> None:
        id = message.get("id")
        method = str(message.get("method"))
        is_request = "id" in message and "method" in message
        if is_request and method in self.results:
            self.send({"id": id, "result": self.results[method]})
        elif is_request and method not in _STEPS:
            self.send({"id": id, "error": {"code": -32601, "message": "Method not found"}})
        else:
            if method == "session/prompt" and self.version == 2 and self.accepts_prompts:
                self.send({"id": id, "result": {"messageId": f"prompt-{id}"}}, update("state_update", state="running"))
            if method == "session/prompt" and self._ends_prompts:
                self.send(self.turn_end(message))
            super()._receive(message)


def update(tag: str, /, **fields: Any) -> Json:
    """Return an update of the session."""
    return {"method": "session/update", "params": {"sessionId": SESSION, "update": {"sessionUpdate": tag, **fields}}}
