"""A random interleaving of our client, with random handlers, and a raw agent that sends random messages."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from acp_bindings.v1 import (
    ContentBlockText,
    RemoteAgent,
    RequestPermissionOutcomeCancelled,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
)
from acp_bindings.v1.connecting import CLIENT_SIDE
from acp_runtime import ConnectionClosed, InvalidResponse, RemoteError
from acp_runtime.connection import Connection
from tests.runtime.connection.interleaving import SESSIONS, Interleaving
from tests.runtime.connection.random_peer import GARBAGE, UNANSWERED
from tests.support.event_loop import let_others_run
from tests.support.runtime.peer import PlainClient, text_of, update

RESULTS: dict[str, Any] = {"session/prompt": {"stopReason": "end_turn"}, "session/set_mode": {}, "_x": {}}


class ClientInterleaving(Interleaving):
    """Our client and a raw agent."""

    def __init__(self, seed: int) -> None:
        self.calls = 0
        self.texts = 0
        self.asked = 0
        self.handled: dict[str, list[str]] = defaultdict(list)
        self.finished: Counter[str] = Counter()
        self.queued: Counter[str] = Counter()
        self.replies: dict[int, tuple[str, int]] = {}
        self.used: set[str] = set(SESSIONS)
        super().__init__(seed)
        self.agent: RemoteAgent = self.wire.connection.remote

    def connect(self, source: Any, writer: Any) -> Connection:
        return Connection(CLIENT_SIDE, lambda agent: RandomClient(agent, self), source, writer, self.options)

    def actors(self) -> list[Coroutine[Any, Any, None]]:
        callers = [self._act(self.chance.randrange(1, 2 + self.busy)) for _ in range(1 + self.busy)]
        return [self._act_as_peer(self.chance.randrange(8 * self.busy)), *callers]

    def check(self) -> None:
        sent: dict[str, list[str]] = defaultdict(list)
        for message in self.wire.sent():
            if message is not None and (message.get("method") in ("session/update", "_note")):
                sent[message["params"]["sessionId"]].append(_text(message["params"]))
        if self.end == "leave":
            assert all(texts == sent[session][: len(texts)] for session, texts in self.handled.items())
        else:
            assert {session: texts for session, texts in self.handled.items() if texts} == sent

    # Actions of our side.

    async def _act(self, times: int) -> None:
        for _ in range(times):
            await let_others_run(self.chance.choice([0, 1, 5]))
            call = self.start(self.call(inside=False))
            if self.chance.random() < 0.3:
                await let_others_run(self.chance.randrange(30))
                call.cancel()
            await asyncio.wait({call})
            if self.chance.random() < 0.3:
                with suppress(ConnectionClosed):
                    await self.agent.session_cancel(session_id=self.chance.choice(SESSIONS))

    async def call(self, *, inside: bool) -> None:
        """Make a call and check that it ends as its response says, after the updates before the response."""
        self.calls += 1
        number, session = self.calls, self.chance.choice(sorted(self.used))
        kind = self.chance.choice(["prompt", "prompt", "mode", "ext", "new"])
        try:
            if kind == "prompt":
                prompt = [ContentBlockText(text=str(number))]
                result: Any = await self.agent.session_prompt(session_id=session, prompt=prompt)
            elif kind == "mode":
                result = await self.agent.session_set_mode(session_id=session, mode_id=str(number))
            elif kind == "ext":
                result = await self.agent.ext_request("_x", {"sessionId": session, "n": number})
            else:
                creation = self.agent.session_new(cwd=f"/{number}", mcp_servers=[])
                result = await (asyncio.wait_for(creation, 60) if self.chance.random() < 0.5 else creation)
        except RemoteError as error:
            assert (self.replies[number][0], error.code) == ("error", 1)  # noqa: PT017 - only some calls raise
        except InvalidResponse as error:
            if self.end == "eof" and "not JSON" in str(error):
                # The last line was cut off. It may even be a request of the peer with the same id.
                return
            assert self.replies[number][0] == "invalid"
        except ConnectionClosed:
            return
        else:
            assert self.replies[number][0] == "result"
            if kind == "new":
                self._created(result.session_id)
            else:
                assert (result["_meta"] if kind == "ext" else result.meta) == {"n": number}
        if not inside and kind != "new" and number in self.replies:
            assert self.finished[session] >= self.replies[number][1], (session, number)

    def _created(self, session: str) -> None:
        is_kept = self.options.high_water_messages > 100 and self.options.max_held_bytes > 1000
        if session not in self.used and is_kept and not self.wire.connection.lifecycle.peer_left.done():
            assert not self.handled[session], session
        self.used.add(session)

    async def handle(self, *, ordered: bool) -> None:
        """Handle a message by a random step."""
        match self.chance.randrange(12):
            case 0:
                await self.call(inside=ordered)
            case 1:
                self.start(self.call(inside=True))
            case _:
                await self.random_step()

    # Actions of the peer.

    async def answer(self, request: Any) -> None:
        id, method, params = request["id"], request["method"], request["params"]
        await let_others_run(self.chance.choice([0, 0, 2, 30]))
        number = _number(params)
        session = params.get("sessionId", f"new{number}")
        for _ in range(self.chance.choice([0, 0, 1, 6])):
            self.wire.send(self._update(session if self.chance.random() < 0.8 else self.chance.choice(SESSIONS)))
        result = {**RESULTS.get(method, {"sessionId": session}), "_meta": {"n": number}}
        kind = self.chance.choice(["result"] * 6 + ["error", "invalid"])
        replies: list[Any] = [{"id": id, "result": result}]
        if kind == "error":
            replies = [{"id": id, "error": {"code": 1, "message": "no"}}]
        elif kind == "invalid":
            both = {"id": id, "result": result, "error": {"code": 1, "message": "no"}}
            replies = [self.chance.choice([{"id": id, "error": "x"}, both, {"id": id, "result": result, "jsonrpc": 2}])]
        if self.chance.random() < 0.2:
            replies.append({"id": id, "result": {}})
        self.replies[number] = kind, self.queued[session]
        self.wire.send(*replies)
        for _ in range(self.chance.choice([0, 0, 3])):
            self.wire.send(self._update(session))

    async def _act_as_peer(self, times: int) -> None:
        for _ in range(times):
            await let_others_run(self.chance.choice([0, 1, 10]))
            self.asked += 1
            session = self.chance.choice(SESSIONS)
            permission = {"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": []}
            id = self.chance.choice([f"id {self.asked}", self.asked, 1, "1", None])
            message: Any = self.chance.choice(
                [
                    *[{"id": id, "method": "session/request_permission", "params": permission}] * 4,
                    *[{"id": id, "method": "_ask", "params": {"sessionId": session}}] * 2,
                    {"id": id, "method": "unknown/method"},
                    {"id": id, "method": "fs/read_text_file", "params": {"sessionId": 5}},
                    {"method": "$/cancel_request", "params": {"requestId": id}},
                    {"method": "$/cancel_request", "params": {"requestId": self.asked - 1}},
                    *[session] * 4,
                    self.chance.choice(GARBAGE),
                    self.chance.choice(UNANSWERED),
                ]
            )
            self.wire.send(self._update(session) if message is session else message)

    def _update(self, session: str) -> Any:
        self.texts += 1
        text = str(self.texts)
        self.queued[session] += 1
        unknown = {"sessionId": session, "update": {"sessionUpdate": "unknown", "n": text}}
        note = {"method": "_note", "params": {"sessionId": session, "n": text}}
        return self.chance.choice([*[update(session, text)] * 5, {"method": "session/update", "params": unknown}, note])


class RandomClient(PlainClient):
    """A client with random handlers."""

    def __init__(self, agent: RemoteAgent, interleaving: ClientInterleaving) -> None:
        super().__init__(agent)
        self.interleaving = interleaving

    async def session_update(self, notification: SessionNotification, /) -> None:
        await self._handle(notification.session_id, text_of(notification))

    async def ext_notification(self, method: str, params: Any) -> None:
        if method == "_note":
            await self._handle(params["sessionId"], _text(params))

    async def invalid_notification(self, method: str, params: Any, error: Any) -> None:
        await self._handle(params["sessionId"], _text(params))

    async def session_request_permission(self, request: RequestPermissionRequest, /) -> RequestPermissionResponse:
        await self.interleaving.handle(ordered=False)
        return RequestPermissionResponse(outcome=RequestPermissionOutcomeCancelled())

    async def ext_request(self, method: str, params: Any) -> Any:
        await self.interleaving.handle(ordered=False)
        return params

    async def _handle(self, session: str, text: str) -> None:
        self.interleaving.handled[session].append(text)
        try:
            await self.interleaving.handle(ordered=True)
        finally:
            self.interleaving.finished[session] += 1


def _text(params: Any) -> str:
    """Return the number of an update."""
    update = params.get("update", params)
    return str(update["n"] if "n" in update else update["content"]["text"])


def _number(params: Any) -> int:
    """Return the number of a call."""
    if "prompt" in params:
        return int(params["prompt"][0]["text"])
    return int(params.get("modeId") or params.get("n") or params["cwd"].removeprefix("/"))
