"""Rule 30: what goes to the log."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from acp_runtime.logs import Throttle, printable, redact
from tests.runtime.peer import Link, serving, update


async def test_rule_30_20000_unknown_notifications_stay_under_a_mebibyte_of_log(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "acp_runtime")
    async with serving(link) as peer:
        for start in range(0, 20_000, 1000):
            await peer.send(*({"method": f"unknown/{n}", "params": {}} for n in range(start, start + 1000)))
        assert await peer.until_quiet() == []
    assert 0 < len(caplog.text) < 100_000


async def test_rule_30_garbage_is_escaped_and_summarised(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(link) as peer:
        await peer.send(b"\x1b[31mred\x07" + b"x" * 100_000 + b"\n")
        await peer.receive()
    assert "\\x1b[31mred\\x07" in caplog.text
    assert "\x1b" not in caplog.text
    assert len(caplog.text) < 1000


async def test_rule_30_no_secret_of_params_is_in_the_log_at_any_level(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
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


def test_rule_30_repeated_warnings_are_rate_limited(caplog: pytest.LogCaptureFixture) -> None:
    throttle = Throttle(logging.getLogger("acp_runtime.test"))
    for number in range(20_000):
        throttle.log(logging.WARNING, "kind", "something happened: %s", number)
    assert 5 <= len(caplog.records) <= 10
    assert "(10000 times so far)" in caplog.text


@pytest.mark.parametrize("key", ["env", "headers"])
def test_rule_30_frames_can_be_logged_without_the_values_of_env_and_headers(key: str) -> None:
    params = {
        "cwd": "/kept",
        "mcpServers": [{"name": "kept", key: [{"name": "KEY", "value": "hunter2"}]}, {key: {"KEY": "hunter2"}}],
        key: "hunter2",
    }
    redacted = redact(json.dumps({"id": 1, "params": params}).encode())
    assert b"hunter2" not in redacted
    assert redacted.count(b"[redacted]") == 3
    assert redacted.count(b"kept") == 2
    assert redacted.count(b"KEY") == 2


def test_rule_30_a_line_that_is_not_json_is_logged_as_its_size() -> None:
    assert redact(b"hunter2") == b'"7 bytes that are not JSON"'
