"""What is secret in messages. `test_frame_log.py` has what is redacted in URLs and environments."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_kit.recording.file_format import Recorded
from acp_kit.recording.redaction import redact, redact_recorded

TOKEN = "hunter2hunter2hunter2"
# Texts with a secret, and what is left of them.
TEXTS = {
    f"Authorization: Bearer {TOKEN}": "Authorization: Bearer [redacted]",
    f"a\nsk-{TOKEN}": "a\n[redacted]",
    f"key ghp_{TOKEN}!": "key [redacted]!",
    f"\x1b[32meyJ{TOKEN}.{TOKEN}.{TOKEN}\x1b[0m": "\x1b[32m[redacted]\x1b[0m",
    f"A_TOKEN={TOKEN} run": "A_TOKEN=[redacted] run",
    f"run --api-key={TOKEN} on": "run --api-key=[redacted] on",
}


@pytest.mark.parametrize(("text", "left"), TEXTS.items())
def test_tokens_in_texts_are_redacted(text: str, left: str) -> None:
    for ascii_only in (False, True):
        assert json.loads(redact(json.dumps({"text": text}, ensure_ascii=ascii_only).encode())) == {"text": left}
    assert redact_recorded(Recorded(1, "stderr", None, None, text)).line == left


@pytest.mark.parametrize(
    "text", ["task-based-scheduling-of-work", "Basic authentication", "--help --key", "MAX_TOKENS=5", "a.b=c"]
)
def test_other_texts_are_not_redacted(text: str) -> None:
    assert json.loads(redact(json.dumps(text).encode())) == text


@pytest.mark.parametrize("name", ["token", "accessToken", "api_key", "API-KEY", "password", "credentials", "tokens"])
def test_texts_in_members_named_like_secrets_are_redacted(name: str) -> None:
    values: dict[str, Any] = {name: ["hunter2", {"a": "hunter2", "n": 5}, None], "total": 5}
    assert json.loads(redact(json.dumps(values).encode())) == {
        name: ["[redacted]", {"a": "[redacted]", "n": 5}, None],
        "total": 5,
    }


def test_more_is_redacted_to_share() -> None:
    numbers = {"token": 123456789, "secret": [123456789]}
    message = {
        **numbers,
        "_meta": {"a": ["hunter2", 1]},
        "url": "https://h/?x=hunter2&y=#z",
        "text": 'password: "hunter2hunter2"',
    }
    line = json.dumps(message).encode()
    assert json.loads(redact(line)) == message
    assert json.loads(redact(line, to_share=True)) == {
        **numbers,
        "_meta": {"a": ["[redacted]", 1]},
        "url": "https://h/?x=[redacted]&y=#z",
        "text": 'password: "[redacted]"',
    }


@pytest.mark.parametrize("piece", ["eyJ", "A_", "--x-", "sk-", "?a", "\\n", "Bearer "])
def test_long_lines_take_little_time(piece: str) -> None:
    line = json.dumps(piece * (1_500_000 // len(piece))).encode()
    assert redact(line, to_share=True)
