"""A random interleaving of our agent, with random handlers, and a raw client that sends random messages."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from acp_bindings.v1 import (
    CancelNotification,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteClient,
    ToolCallUpdate,
)
from acp_bindings.v1.connecting import AGENT_SIDE
from acp_runtime import ConnectionClosed, GuardError, InvalidResponse, RemoteError, RequestError
from acp_runtime.connection import Connection
from tests.runtime.connection.interleaving import SESSIONS, Interleaving
from tests.runtime.connection.random_peer import GARBAGE, UNANSWERED
from tests.support.event_loop import let_others_run
from tests.support.runtime.peer import PlainAgent, chunk


class AgentInterleaving(Interleaving):
    """Our agent and a raw client."""

    def __init__(self, seed: int) -> None:
        self.asked = 0
        self.texts = 0
        self.sent: dict[str, list[str]] = defaultdict(list)
        self.by_request: dict[str, list[str]] = defaultdict(list)
        self.ends: dict[str, str] = {}
        self.handled: dict[str, list[str]] = defaultdict(list)
        super().__init__(seed)

    def connect(self, source: Any, writer: Any) -> Connection:
        return Connection(AGENT_SIDE, lambda client: RandomAgent(client, self), source, writer, self.options)

    def actors(self) -> list[Coroutine[Any, Any, None]]:
        return [self._act(self.chance.randrange(1, 4 + 8 * self.busy)) for _ in range(2)]

    def check(self) -> None:
        arrived: dict[str, list[str]] = defaultdict(list)
        answers: dict[str, tuple[Any, int]] = {}
        places: dict[str, int] = {}
        for place, message in enumerate(self.wire.received):
            if message.get("method") == "session/update":
                text = message["params"]["update"]["content"]["text"]
                arrived[message["params"]["sessionId"]].append(text)
                places[text] = place
            elif "method" not in message and isinstance(message["id"], str):
                answers[message["id"]] = message, place
        self._check_order(arrived)
        for request, (answer, place) in answers.items():
            self._check_answer(request, answer)
            self._check_places(
                request, answer, [places[text] for text in self.by_request[request] if text in places], place
            )
        if self.end != "leave":
            notes: dict[str, list[str]] = defaultdict(list)
            for message in self.wire.sent():
                if message is not None and message.get("method") == "_note":
                    notes[message["params"]["sessionId"]].append(message["params"]["n"])
            assert self.handled == notes

    def _check_order(self, arrived: dict[str, list[str]]) -> None:
        for session, texts in self.sent.items():
            created = session in SESSIONS or self.ends.get(session) == "result"
            if self.end == "leave":
                assert arrived[session] == texts[: len(arrived[session])]
            elif created:
                assert arrived[session] == texts, session
            else:
                assert arrived[session] == [], session

    def _check_answer(self, request: str, answer: Any) -> None:
        """Check that a response agrees with how its handler ended."""
        error, end = answer.get("error", {}).get("code"), self.ends.get(request)
        was_cancelled = error == -32800 or answer.get("result", {}).get("stopReason") == "cancelled"
        match end:
            case "result":
                assert "result" in answer
                assert answer["result"].get("stopReason") != "cancelled"
            case "error":
                assert error == 4711
            case "failed":
                assert was_cancelled or error == -32603
            case _:
                assert was_cancelled or error in (-32601, -32602), (end, answer)

    def _check_places(self, request: str, answer: Any, updates: list[int], place: int) -> None:
        """Check that updates are sent before their handler's response; those for a new session after it (rule 17)."""
        if request.startswith("new"):
            assert all(update_place > place for update_place in updates)
        elif self.ends.get(request) is not None:
            assert all(update_place < place for update_place in updates)

    # Actions of our side.

    async def turn(self, request: str, session: str) -> None:
        """Handle a prompt by random steps, and record how it ended."""
        try:
            for _ in range(self.chance.randrange(4)):
                await self._step(request, session)
            self.ends[request] = self.chance.choice(["result", "result", "error"])
        except asyncio.CancelledError:
            self.ends[request] = "cancelled"
            if self.chance.random() < 0.4:
                with suppress(ConnectionClosed, GuardError):
                    await self.update(request, session)
            if self.chance.random() < 0.3:
                self.ends[request] = "result"
                return
            raise
        except BaseException:
            self.ends[request] = "failed"
            raise
        if self.ends[request] == "error":
            raise RequestError(4711, "no")

    async def update(self, request: str, session: str) -> None:
        self.texts += 1
        text = str(self.texts)
        self.sent[session].append(text)
        self.by_request[request].append(text)
        try:
            await self.client.session_update(session_id=session, update=chunk(text))
        except (ConnectionClosed, GuardError):
            self.sent[session].remove(text)
            raise

    @property
    def client(self) -> RemoteClient:
        return self.wire.connection.remote

    async def _step(self, request: str, session: str) -> None:
        match self.chance.randrange(10):
            case 0 | 1 | 2 | 3:
                for _ in range(self.chance.choice([1, 10])):
                    await self.update(request, session)
            case 4 | 5:
                try:
                    async with asyncio.timeout(self.chance.choice([None, None, 0, 0.1])):
                        await self._call(session)
                except TimeoutError:
                    pass
            case _:
                await self.random_step()

    async def _call(self, session: str) -> None:
        with suppress(RemoteError, InvalidResponse):
            if self.chance.random() < 0.5:
                await self.client.ext_request("_ask", {"sessionId": session})
            else:
                await self.client.session_request_permission(
                    session_id=session, tool_call=ToolCallUpdate(tool_call_id="t"), options=[]
                )

    # Actions of the peer.

    async def answer(self, request: Any) -> None:
        id = request["id"]
        await let_others_run(self.chance.choice([0, 3, 30]))
        result = {"id": id, "result": {"outcome": {"outcome": "cancelled"}}}
        answers = [result, result, {"id": id, "error": {"code": 1, "message": "no"}}, {"id": id, "error": "x"}]
        self.wire.send(*[self.chance.choice(answers)] * self.chance.choice([1, 1, 2]))

    async def _act(self, times: int) -> None:
        for _ in range(times):
            await let_others_run(self.chance.choice([0, 0, 1, 10]))
            self.asked += 1
            number, session = self.asked, self.chance.choice(SESSIONS)
            text = [{"type": "text", "text": f"prompt{number}"}]
            prompt = {
                "id": f"prompt{number}",
                "method": "session/prompt",
                "params": {"sessionId": session, "prompt": text},
            }
            new = {"id": f"new{number}", "method": "session/new", "params": {"cwd": f"/new{number}", "mcpServers": []}}
            last = self.chance.choice(["prompt", "new"]) + str(max(1, number - self.chance.randrange(3)))
            self.wire.send(
                self.chance.choice(
                    [
                        *[prompt] * 5,
                        new,
                        new,
                        {"id": number, "method": "unknown/method"},
                        {"id": 1, "method": "_ext"},
                        {"id": number, "method": "session/prompt", "params": {"sessionId": session}},
                        *[{"method": "session/cancel", "params": {"sessionId": session}}] * 2,
                        *[{"method": "$/cancel_request", "params": {"requestId": last}}] * 2,
                        {"method": "session/cancel", "params": {"sessionId": 5}},
                        {"method": "_note", "params": {"sessionId": session, "n": str(number)}},
                        self.chance.choice(GARBAGE),
                        self.chance.choice(UNANSWERED),
                    ]
                )
            )


class RandomAgent(PlainAgent):
    """An agent with random handlers."""

    def __init__(self, client: RemoteClient, interleaving: AgentInterleaving) -> None:
        super().__init__(client)
        self.interleaving = interleaving

    async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
        session = request.cwd.removeprefix("/")
        await self.interleaving.turn(session, session)
        return NewSessionResponse(session_id=session)

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        block: Any = request.prompt[0]
        await self.interleaving.turn(block.text, request.session_id)
        return PromptResponse(stop_reason="end_turn")

    async def ext_notification(self, method: str, params: Any) -> None:
        if method == "_note":
            self.interleaving.handled[params["sessionId"]].append(params["n"])
            await self.interleaving.random_step()

    async def session_cancel(self, notification: CancelNotification, /) -> None:
        await self.interleaving.random_step()
        await super().session_cancel(notification)
