"""Replays the recorded traffic of published agents and clients to either side.

The environment variable ACP_RECORDINGS names a folder with recordings: files of JSON lines with `dir` ("c2a" from the
client to the agent, or "a2c") and `msg`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_runtime import RemoteError, RequestError
from acp_runtime.jsonrpc.encoding import dump
from acp_runtime.jsonrpc.frames import params_adapter
from acp_runtime.jsonrpc.results import build_result
from tests.support.runtime.peer import LINKS, serving

FOLDER = os.environ.get("ACP_RECORDINGS", "")
FILES = sorted(Path(FOLDER).glob("*.jsonl")) if FOLDER else []
DIRECTIONS = {"client": "c2a", "agent": "a2c"}


class Replay:
    """Both sides of a recording: our side acts as recorded, its peer sends the recorded bytes.

    Attributes:
        invalid: the notifications that our side found invalid.
    """

    def __init__(self, side: Any) -> None:
        self._side = side
        self._calls: dict[Any, tuple[Any, asyncio.Task[Any]]] = {}
        self._responses: dict[str, list[asyncio.Future[Any]]] = {}
        self._unanswered: dict[Any, tuple[Any, asyncio.Future[Any]]] = {}
        self._answers: dict[Any, Any] = {}
        self._sent: list[Any] = []
        self._received: list[Any] = []
        self._expected: list[Any] = []
        self.remote: Any = None
        self.peer: Any = None
        self.invalid: list[Any] = []

    def handler(self, remote: Any) -> Any:
        """Make the handler of our side, which returns the recorded results at the recorded times."""
        self.remote = remote
        members: dict[str, Any] = {"invalid_notification": self._note_invalid}
        members |= {method.name: self._handle(method) for method in self._side.requests.values()}
        members |= {method.name: self._ignore for method in self._side.notifications.values()}
        return type("Handler", (self._side.base,), members)()

    async def ours(self, message: Any) -> None:
        """Let our side send a recorded message."""
        if "method" not in message:
            await self._answer(message)
            return
        table = self.remote.requests if "id" in message else self.remote.notifications
        method = table.get(message["method"])
        if method is None:
            return
        params = params_adapter(method).validate_json(json.dumps(message.get("params", {})))
        call = asyncio.create_task((self.remote.request if "id" in message else self.remote.notify)(params))
        if "id" not in message:
            self._expected.append(message)
            await call
            return
        await self._until(lambda: self._sent)
        sent = self._sent.pop()
        assert (sent["method"], sent["params"]) == (message["method"], message.get("params", {}))
        self._calls[message["id"]] = sent["id"], call

    async def theirs(self, message: Any) -> None:
        """Let our side receive a recorded message of its peer."""
        method = message.get("method")
        if method is not None:
            if "id" in message and method in self._side.requests:
                response: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
                self._responses.setdefault(method, []).append(response)
                self._unanswered[message["id"]] = self._side.requests[method], response
            await self.peer.send(message)
        elif message["id"] in self._calls:
            id, call = self._calls.pop(message["id"])
            await self.peer.send({**message, "id": id})
            try:
                answer: Any = json.loads(dump(await call))
            except RemoteError as error:
                answer = error.code
            assert answer == (message["error"]["code"] if "error" in message else message["result"] or {})

    async def end(self) -> None:
        """Check the order of notifications in each session, and cancel requests without a recorded response."""
        await self._until(lambda: len(self._received) == len(self._expected))
        assert _by_session(self._received) == _by_session(self._expected)
        for _, call in self._calls.values():
            call.cancel()
        for _, response in self._unanswered.values():
            response.cancel()

    async def _answer(self, message: Any) -> None:
        if message["id"] not in self._unanswered:
            return
        method, response = self._unanswered.pop(message["id"])
        if "error" in message:
            response.set_exception(RequestError(**message["error"]))
        else:
            result = json.dumps(message["result"] or {}).encode()
            response.set_result(build_result(method, result))
        await self._until(lambda: message["id"] in self._answers)
        answer = self._answers.pop(message["id"])
        assert (answer.get("result"), answer.get("error")) == (
            None if "error" in message else message["result"] or {},
            message.get("error"),
        )

    async def _until(self, is_there: Callable[[], Any]) -> None:
        while not is_there():
            received = await self.peer.receive()
            if "method" in received:
                (self._sent if "id" in received else self._received).append(received)
            else:
                self._answers[received["id"]] = received

    def _handle(self, method: Any) -> Any:
        async def handle(_: Any, request: Any, /) -> Any:
            return await self._responses[method.wire].pop(0)

        return handle

    async def _ignore(self, notification: Any, /) -> None:
        """Do nothing: the consequences were recorded, too."""

    async def _note_invalid(self, method: str, params: Any, error: Any) -> None:
        self.invalid.append((method, error.data))


def _by_session(notifications: list[Any]) -> dict[str, list[Any]]:
    by_session: dict[str, list[Any]] = {}
    for notification in notifications:
        by_session.setdefault(notification["params"]["sessionId"], []).append(
            (notification["method"], notification["params"])
        )
    return by_session


@pytest.mark.parametrize("role", DIRECTIONS)
@pytest.mark.parametrize("profile", ["v1", "v1_unstable"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_recorded_messages_are_understood_and_sent_unchanged(path: Path, profile: str, role: str) -> None:
    sides = importlib.import_module(f"acp_bindings.{profile}.connecting")
    side = sides.CLIENT_SIDE if role == "client" else sides.AGENT_SIDE
    replay = Replay(side)
    options = {"ready": False, "side": side, "guards": "off", "eof_grace": 0.01}
    async with serving(LINKS["memory"], replay.handler, **options) as peer:
        replay.peer = peer
        for record in map(json.loads, path.read_text("utf-8").splitlines()):
            await (replay.ours if record["dir"] == DIRECTIONS[role] else replay.theirs)(record["msg"])
        await replay.end()
    assert replay.invalid == []


def test_the_folder_of_recordings_is_not_empty() -> None:
    assert FILES or not FOLDER, f"ACP_RECORDINGS={FOLDER} has no *.jsonl"
