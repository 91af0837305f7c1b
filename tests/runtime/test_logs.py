"""Rule 30: the log is escaped, limited, and free of payload."""

from __future__ import annotations

import asyncio
import logging
import re
import traceback
from typing import Any

import pytest

from acp_bindings.v1 import PromptRequest, PromptResponse, SessionNotification
from acp_runtime import ConnectionClosed, InvalidResponse, Options, RequestError
from acp_runtime.connection.on_frame import frame_observer
from acp_runtime.escaping import printable
from acp_runtime.logs import ThrottledLogger
from tests.support.runtime.odd_json import DAMAGE, message
from tests.support.runtime.peer import Link, PlainAgent, PlainClient, calling, serving, update


async def test_rule_30_garbage_is_escaped_and_truncated(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(link) as peer:
        await peer.send(b"\x1b[31mred\x07" + b"x" * 100_000 + b"\n")
        await peer.receive()
    assert "\\x1b[31mred\\x07" in caplog.text
    assert "\x1b" not in caplog.text
    assert len(caplog.text) < 1000


async def test_rule_30_params_are_not_logged_at_any_level(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    env = [{"name": "KEY", "value": "hunter2"}]
    good: dict[str, Any] = {"name": "x", "command": "/x", "args": [], "env": env}
    async with serving(link) as peer:
        for server in (good, {**good, "args": "wrong"}):
            await peer.call("session/new", {"cwd": "/", "mcpServers": [server]})
        await peer.send({"method": "session/cancel", "params": {"sessionId": 5, "env": env}}, update("hunter2", "x"))
        await peer.until_quiet()
    assert "hunter2" not in caplog.text


def test_rule_30_control_characters_are_escaped() -> None:
    assert printable("a\nb\x1b[0m\u202e\x00") == "a\\nb\\x1b[0m\\u202e\\x00"
    assert printable(b"\xff\xfeok") == "\\xff\\xfeok"
    assert printable("x" * 300) == "x" * 200 + "..."
    assert len(printable(b"\x00" * 100_000)) < 210


async def test_rule_30_the_text_of_an_exception_is_escaped(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    class Agent(PlainAgent):
        async def session_prompt(self, request: PromptRequest) -> PromptResponse:
            raise RuntimeError(f"failed for {request.session_id}")

    async with serving(link, Agent) as peer:
        await peer.call("session/prompt", {"sessionId": "\x1b[31mred\x07", "prompt": []})
    assert "RuntimeError: failed for \\x1b[31mred\\x07" in caplog.text
    assert "\x1b" not in caplog.text


def test_rule_30_repeated_warnings_are_rate_limited(caplog: pytest.LogCaptureFixture) -> None:
    throttle = ThrottledLogger(logging.getLogger("acp_runtime.test"))
    for number in range(20_000):
        throttle.log(logging.WARNING, "kind", "something happened: %s", number)
    assert 5 <= len(caplog.records) <= 10
    assert "(10000 times so far)" in caplog.text


ENV = {"name": "KEY", "value": "hunter2"}
NEW_SESSION = {"cwd": "/", "mcpServers": [{"name": "x", "command": "/x", "args": [], "env": [ENV]}]}
# Messages, fragments of them, and printed forms of them.
PAYLOADS = {
    **{name: damage(message(id=1, method="session/new", params=NEW_SESSION)) for name, damage in DAMAGE.items()},
    "a batch": b'[{"env": "hunter2"}]x',
    "in several lines": b'{\n "env":\n  [\n   {"value": "hunter2"},\n   "hunter2",\n   "hunter2"\n  ]\n}',
    "torn in a text": b'{"env":"a\nhunter2"}\nhunter2","x":1}\nx hunter2" : 1',
    "a name and a value": b'"KEY": "hunter2"',
    "a number first": b"-1, hunter2",
    "a word of JSON first": b"null, hunter2\n[true, hunter2",
    "in the syntax of another language": b"{'env': 'hunter2'}\n{ env: 'hunter2' }\n['hunter2']",
    "in a line of a log": b'DEBUG sending {"env": "hunter2"}',
    "in UTF-16": '{"env": "hunter2"}'.encode("utf-16"),
}


@pytest.mark.parametrize("name", PAYLOADS)
async def test_rule_30_an_unreadable_message_is_described_but_not_quoted(
    link: Link, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with calling(link, ready=False) as (agent, peer):
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        await peer.receive()
        await peer.send(PAYLOADS[name] + b"\n")
        await peer.receive()
        await peer.end()
        with pytest.raises((ConnectionClosed, InvalidResponse)) as caught:
            await call
    assert re.search(r"\d bytes", caplog.text)
    raised = "".join(traceback.format_exception(caught.value))
    assert "hunter2" not in f"{caplog.text}{raised}".replace("\\x00", "")


@pytest.mark.parametrize(
    "banner", ["Welcome to agent 1.0", "[INFO] ready", "npm WARN old", "--- agent ---", "* it's \u202e\x1b[31mready"]
)
async def test_rule_30_a_banner_is_quoted_in_the_log_and_the_error_escaped(
    link: Link, banner: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(link, ready=False) as (agent, peer):
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        await peer.receive()
        await peer.send(banner.encode() + b"\nanother line\n")
        await peer.end()
        with pytest.raises(ConnectionClosed) as caught:
            await call
    for text in (caplog.text, str(caught.value)):
        assert printable(banner) in text
        assert "\x1b" not in text
        assert "another line" not in text


async def test_rule_30_the_error_for_an_invalid_response_contains_no_values(link: Link) -> None:
    secret: dict[str, Any] = {"env": [ENV], "hunter2": "hunter2"}
    results: list[Any] = ["hunter2", ["hunter2"], {"sessionId": secret}, {"sessionId": [secret]}]
    async with calling(link) as (agent, peer):
        for result in results:
            call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
            await peer.answer(result=result, hunter2=1)
            with pytest.raises(InvalidResponse) as caught:
                await call
            assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def test_rule_30_the_text_of_errors_is_escaped() -> None:
    assert str(RequestError(1, "a\x1b[31m\nb\ud83d")) == "a\\x1b[31m\\nb\\ud83d (1)"
    assert len(str(RequestError(1, "x" * 100_000))) < 3000
    closed = str(ConnectionClosed("Gone.", 3, "first\r\n\tsecond\x1b[31m\x00\u202e"))
    assert closed == "Gone. Exit code: 3. Last output on stderr:\nfirst\n\tsecond\\x1b[31m\\x00\\u202e"


def test_the_text_of_a_closed_connection_does_not_end_with_a_newline() -> None:
    assert str(ConnectionClosed("Gone.", 3, "No model.\r\n")).endswith("\nNo model.")
    assert str(ConnectionClosed("Gone.", 3, "\n")) == "Gone. Exit code: 3."


def test_rule_30_warnings_of_many_kinds_are_rate_limited_together(caplog: pytest.LogCaptureFixture) -> None:
    throttle = ThrottledLogger(logging.getLogger("acp_runtime.test"))
    for number in range(20_000):
        for _ in range(5):
            throttle.log(logging.WARNING, f"kind {number}", "something happened: %s", number)
    assert 100 <= len(caplog.records) <= 600


async def test_a_handler_stopped_by_the_end_of_the_connection_is_logged_once_without_traceback(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Asking(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await self.agent.ext_request("_ask")

    async with calling(link, Asking) as (_, peer):
        await peer.send(update("s", "x"))
        await peer.receive()
        await peer.end()
    (record,) = caplog.records
    assert "The handler of session/update was stopped by the end of a connection" in record.getMessage()
    assert (record.levelname, record.exc_info) == ("WARNING", None)


def test_ctrl_c_in_on_frame_is_not_logged_but_raised() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    observe = frame_observer(Options(on_frame=interrupt))
    assert observe is not None
    with pytest.raises(KeyboardInterrupt):
        observe("in", b"{}")
