"""Rule 30: an exception in `on_frame`, logging or a notification handler has no effect on messages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from acp_runtime import InvalidResponse, RemoteError
from tests.support.runtime.peer import (
    Link,
    Peer,
    PlainAgent,
    PlainClient,
    calling,
    chunk,
    prompt,
    serving,
    text_of,
    update,
)


class Mishap(BaseException):
    """An exception that `except Exception` doesn't catch, like that of `pytest.fail`."""


ERRORS: dict[str, type[BaseException]] = {
    "an exception": ZeroDivisionError,
    "another exception": Mishap,
    "SystemExit": SystemExit,
    "a cancellation": asyncio.CancelledError,
}
FUTURE = {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "from_the_future"}}}


class Busy(PlainAgent):
    """An agent that sends every kind of message in a turn."""

    async def session_prompt(self, request: Any, /) -> Any:
        await self.client.session_update(session_id="s1", update=chunk("hi"))
        with pytest.raises(RemoteError):
            await self.client.ext_request("_fail")
        with pytest.raises(InvalidResponse):
            await self.client.ext_request("_nonsense")
        try:
            async with asyncio.timeout(0.01):
                await self.client.ext_request("_never")
        except TimeoutError:
            pass
        await self.client.ext_notification("_note")
        return await super().session_prompt(request)


async def agent_side(peer: Peer) -> None:
    """Exchange every kind of message with an agent, and check its usual answers."""
    await peer.send(
        prompt(1),
        {"method": "_x"},
        {"method": "session/cancel", "params": 5},
        {"method": "unknown"},
        {"id": 77, "result": 1},
    )
    assert (await peer.receive())["method"] == "session/update"
    await peer.answer(error={"code": 1, "message": "no"})
    await peer.answer(error="nonsense")
    never = (await peer.receive())["id"]
    assert (await peer.receive())["params"] == {"requestId": never}
    assert (await peer.receive())["method"] == "_note"
    assert (await peer.receive())["result"] == {"stopReason": "end_turn"}
    await peer.send(
        b"not JSON\n", [], {"id": 5, "method": "session/prompt", "params": {}}, {"id": 6, "method": "unknown"}
    )
    await peer.send({"method": "$/cancel_request", "params": {"requestId": 9}})
    codes = [answer["error"]["code"] for answer in await peer.until_quiet()]
    assert codes == [-32700, -32600, -32602, -32601]


async def client_side(agent: Any, peer: Peer) -> None:
    """Send valid and invalid updates before a response, and check that they are handled."""
    handler = agent.handler
    call = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
    id = (await peer.receive())["id"]
    await peer.send(update("s", "1"), FUTURE, update("s", "2"), {"id": id, "result": {"stopReason": "end_turn"}})
    assert (await call).stop_reason == "end_turn"
    assert [text_of(received) for received in handler.updates] == ["1", "2"]


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("raises_for", ["in", "out"])
async def test_rule_30_an_exception_in_on_frame_affects_no_message(
    link: Link, raises_for: str, error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    def hook(direction: str, line: bytes, time: float) -> None:
        if direction == raises_for:
            raise error

    async with serving(link, Busy, on_frame=hook) as peer:
        await agent_side(peer)
    async with calling(link, on_frame=hook) as (agent, peer):
        await client_side(agent, peer)
    assert "The handler of Options.on_frame failed" in caplog.text


@contextmanager
def broken_log(make: Callable[[type[BaseException]], logging.Handler], error: type[BaseException]) -> Iterator[None]:
    logger, handler = logging.getLogger("acp_runtime"), make(error)
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class RaisingHandler(logging.Handler):
    def __init__(self, error: type[BaseException]) -> None:
        super().__init__()
        self.error = error

    def handle(self, record: logging.LogRecord) -> bool:
        raise self.error


class RaisingFilter(RaisingHandler):
    def filter(self, record: logging.LogRecord) -> bool:
        raise self.error


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("make", [RaisingHandler, RaisingFilter])
async def test_rule_30_an_exception_in_logging_affects_no_message(
    link: Link, make: Callable[[type[BaseException]], logging.Handler], error: type[BaseException]
) -> None:
    with broken_log(make, error):
        async with serving(link, Busy) as peer:
            await agent_side(peer)
        async with calling(link) as (agent, peer):
            await client_side(agent, peer)


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
async def test_rule_12_an_exception_in_invalid_notification_affects_no_later_message(
    link: Link, error: type[BaseException]
) -> None:
    raised = error

    class Raising(PlainClient):
        async def invalid_notification(self, method: str, params: Any, error: Any) -> None:
            raise raised

    async with calling(link, Raising) as (agent, peer):
        await client_side(agent, peer)


class NotAsynchronous(PlainClient):
    def session_update(self, notification: Any, /) -> None:  # type: ignore[override]
        self.updates.append(notification)


class WrongArguments(PlainAgent):
    async def session_prompt(self, session_id: str, prompt: Any) -> Any:  # type: ignore[override]
        pytest.fail("it can't be called")


class RaisingTypeError(PlainAgent):
    async def session_prompt(self, request: Any, /) -> Any:
        return len(5)  # type: ignore[arg-type]


async def test_rule_30_the_log_says_how_to_write_a_handler_with_a_wrong_signature(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    advice = "Handlers are `async def` methods with one argument"
    async with calling(link, NotAsynchronous) as (_, peer):
        await peer.send(update("s", "1"))
        await peer.until_quiet()
    assert advice in caplog.text
    for agent, expected in (WrongArguments, True), (RaisingTypeError, False):
        caplog.clear()
        async with serving(link, agent) as peer:
            await peer.send(prompt(1))
            assert (await peer.receive())["error"]["code"] == -32603
        assert (advice in caplog.text) is expected
        assert "TypeError" in caplog.text
