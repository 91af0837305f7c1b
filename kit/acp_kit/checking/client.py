"""The client under test, as its agent sees it: what it sends, and whether it goes on."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import time
from typing import Any, TypeAlias, TypeVar, cast

from acp_kit.recording import Direction
from acp_runtime.processes import ProcessGroup

Json: TypeAlias = "dict[str, Any]"
_T = TypeVar("_T")

SESSION = "session-1"
PROMPT = "Say hello, please: ça va? 👋"
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")

_PERMISSION = "session/request_permission"
# Their answers are what a scenario is about, or they begin a step of it.
_STEPS = ("initialize", "session/new", "session/prompt")


class Unmet(Exception):
    """The client doesn't do what the scenario asks for."""


class NotTried(Exception):
    """The scenario can't be tried with this client."""


class Client:
    """The client under test. The methods that wait raise `Unmet` after `deadline` seconds, or when the client leaves.

    Args:
        deadline: the seconds that one step may take.
        quiet: for how many seconds a scenario listens to a client that should send nothing.
        by_hand: whether a person uses the client, which stays open.
        is_prompted: whether it is told to send `PROMPT`.
        answer_typed: what is typed into its stdin when it is asked for permission.

    Attributes:
        entries: all lines so far, with time and direction.
        messages: what the client has sent, as far as it is JSON objects.
        results: what requests of the client are answered with, by method. Those to `initialize`, `session/new` and
            `session/prompt` wait for the scenario if they have no result here, others get an error.
        process: the client's process, once it is started.
    """

    def __init__(
        self, deadline: float, quiet: float, *, by_hand: bool, is_prompted: bool, answer_typed: str | None
    ) -> None:
        self.deadline = deadline
        self.quiet = quiet
        self.by_hand = by_hand
        self.is_prompted = is_prompted
        self.answer_typed = answer_typed
        self.entries: list[tuple[float, Direction, bytes]] = []
        self.messages: list[Json] = []
        self.results: dict[str, Json] = {
            "initialize": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []},
            "session/new": {"sessionId": SESSION},
        }
        self.process: ProcessGroup | None = None
        self._ids = itertools.count(1)
        self._unread: list[Json] = []
        self._changed = asyncio.Event()
        self._left = ""  # how the client left, in words
        self._writer: asyncio.StreamWriter | None = None
        self._prompt: Json | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read what the client sends, until it closes its side."""
        self._writer = writer
        async for line in reader:
            self.entries.append((time(), "c2a", line.removesuffix(b"\n")))
            if message := parse(line):
                self._receive(message)
        self.note_left("closed the connection")

    @property
    def capabilities(self) -> Json:
        """What it advertises."""
        return self.params("initialize").get("clientCapabilities") or {}

    def params(self, method: str) -> Json:
        """Return the params of its first message with a method, or nothing."""
        return next((each.get("params") or {} for each in self.messages if each.get("method") == method), {})

    @property
    def is_connected(self) -> bool:
        """Whether it has started the agent."""
        return self._writer is not None

    def note_left(self, how: str) -> None:
        """Note that nothing more will come, and why."""
        self._left = self._left or how
        self._changed.set()

    def send(self, *messages: Json | bytes, skip: int = 0) -> None:
        """Send messages, or any bytes, in one piece, but for the first `skip` bytes."""
        assert self._writer is not None
        lines = [each if isinstance(each, bytes) else encode(each) for each in messages]
        self.entries += [(time(), "a2c", line.removesuffix(b"\n")) for line in lines]
        self._writer.write(b"".join(lines)[skip:])
        for each in messages:
            if isinstance(each, dict) and each.get("method") == _PERMISSION and self.answer_typed:
                asyncio.get_running_loop().call_later(self.quiet / 4, self.type, self.answer_typed)

    async def send_in_pieces(self, message: Json, cut: int) -> None:
        """Send a message in two pieces, of which the first has `cut` bytes."""
        assert self._writer is not None
        self._writer.write(encode(message)[:cut])
        await asyncio.sleep(self.quiet / 4)  # so that the client reads it alone
        self.send(message, skip=cut)

    def type(self, text: str) -> None:
        """Type a line into the client's stdin, where it has one."""
        if self.process is not None and self.process.popen.stdin is not None:
            with suppress(OSError, ValueError):  # the client has exited, or its stdin is closed
                self.process.popen.stdin.write(f"{text}\n".encode())

    def close_stdin(self) -> None:
        """End the client's stdin."""
        if self.process is not None and self.process.popen.stdin is not None:
            self.process.popen.stdin.close()

    def leave(self) -> None:
        """End the agent's process with exit code 1."""
        assert self._writer is not None
        self._writer.close()

    def interrupt(self) -> None:
        """Do what Ctrl-C does in a terminal."""
        if self.process is not None and not self.by_hand:
            self.process.signal("SIGINT")

    async def receive(self, *methods: str) -> Json:
        """Wait for the next message with one of these methods."""
        return await self._wait(" or ".join(methods), lambda: self._take(lambda each: each.get("method") in methods))

    async def answer(self, id: Any, method: str) -> Json:
        """Wait for the answer to a request of the agent."""
        wanted = json.dumps(id)
        return await self._wait(
            f"the answer to {method} with the id {wanted}",
            lambda: self._take(lambda each: "method" not in each and json.dumps(each.get("id")) == wanted),
        )

    async def ask(self, method: str, id: Any = None, **params: Any) -> Json:
        """Send a request, and wait for its answer."""
        message = self.request(method, id, **params)
        self.send(message)
        return await self.answer(message["id"], method)

    async def ask_for_permission(self, id: Any = None, *, kinds: Sequence[str] = KINDS, session: str = SESSION) -> Json:
        """Ask for permission, and wait for the answer. The id of an option is `my-` and its kind."""
        message = self.permission(id, kinds=kinds, session=session)
        self.send(message)
        return await self.answer(message["id"], message["method"])

    def request(self, method: str, id: Any = None, **params: Any) -> Json:
        """Return a request. Its id is a new one by default."""
        return {"id": next(self._ids) if id is None else id, "method": method, "params": params}

    def permission(self, id: Any = None, *, kinds: Sequence[str] = KINDS, session: str = SESSION) -> Json:
        """Return a request for permission to edit a file."""
        options = [{"optionId": f"my-{kind}", "name": kind.replace("_", " "), "kind": kind} for kind in kinds]
        call = {"toolCallId": f"call-{next(self._ids)}", "title": "Edit a.txt", "kind": "edit", "status": "pending"}
        return self.request(_PERMISSION, id, sessionId=session, toolCall=call, options=options)

    async def listen(self) -> None:
        """Give the client time to send what it shouldn't."""
        await asyncio.sleep(self.quiet)

    async def prompted(self) -> Json:
        """Wait for the first prompt, and return it."""
        if self._prompt is None:
            self._prompt = await self.receive("session/prompt")
        return self._prompt

    async def end_turn(self, *after: Json, reason: str = "end_turn", any_code: bool = False) -> None:
        """Answer the first prompt, send other messages after it, and see that the client goes on (`see_end`)."""
        prompt = await self.prompted()
        self.send({"id": prompt["id"], "result": {"stopReason": reason}}, *after)
        await self.see_end(any_code=any_code)

    async def see_end(self, *, any_code: bool = False) -> None:
        """See that the client exits, or if it stays open, that it still answers. Later prompts are answered.

        Args:
            any_code: whether the exit code may be another one than 0.
        """
        self.results["session/prompt"] = {"stopReason": "end_turn"}
        if self.by_hand:
            await self.ask("_acp_bindings/are_you_there")
            return
        self.close_stdin()
        code = await self._exit_code()
        if code and not any_code:
            raise Unmet(f"the client ended with exit code {code}")

    async def wait_left(self, what: str, *, instead_of: Sequence[str] = ()) -> None:
        """Wait until the client has closed the connection, and raise `Unmet` if it sends one of these methods."""

        def find() -> str | Json | None:
            return self._take(lambda each: each.get("method") in instead_of) or self._left

        if isinstance(found := await self._wait(what, find), dict):
            raise Unmet(f"the client sends {found['method']} instead of {what}")

    async def _exit_code(self) -> int:
        assert self.process is not None
        await asyncio.wait({self.process.exited}, timeout=self.deadline)
        if self.process.returncode is None:
            raise Unmet(f"waited {self.deadline:g} seconds for the client to exit")
        return self.process.returncode

    async def _wait(self, what: str, find: Callable[[], _T | None]) -> _T:
        try:
            async with asyncio.timeout(self.deadline):
                while not (found := find()):
                    if self._left:
                        raise Unmet(f"the client {self._left} before {what}")
                    self._changed.clear()
                    await self._changed.wait()
                return found
        except TimeoutError:
            raise Unmet(f"waited {self.deadline:g} seconds for {what}") from None

    def _take(self, is_wanted: Callable[[Json], bool]) -> Json | None:
        for place, message in enumerate(self._unread):
            if is_wanted(message):
                return self._unread.pop(place)
        return None

    def _receive(self, message: Json) -> None:
        self.messages.append(message)
        method = message.get("method")
        if "id" in message and method in self.results:
            self.send({"id": message["id"], "result": self.results[method]})
        elif "id" in message and method is not None and method not in _STEPS:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        else:
            self._unread.append(message)
            self._changed.set()


def encode(message: Json) -> bytes:
    """Return a message as a line."""
    return json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n"


def parse(line: bytes) -> Json | None:
    """Return the message in a line; None if it is no JSON object."""
    try:
        message: Any = json.loads(line)
    except ValueError:
        return None
    return cast("Json", message) if isinstance(message, dict) else None
