"""Secrets in URLs, environments and headers are redacted, in any JSON."""

from __future__ import annotations

import json
import math

import pytest

from acp_kit.recording.redaction import redact
from tests.support.runtime.odd_json import FAR_TOO_DEEP, message, nested, nested_json

# Texts with a secret, and what is left of them.
REDACTED = {
    "https://user:hunter2@host/path": "https://[redacted]@host/path",
    "HTTPS://hunter2@host": "HTTPS://[redacted]@host",
    "https://user:hunt@er2@host:80/@home": "https://[redacted]@host:80/@home",
    "git clone 'https://x:hunter2@host/a.git' && echo a@b": "git clone 'https://[redacted]@host/a.git' && echo a@b",
    "a postgresql+asyncpg://é:hunter2@[::1]/db\nb redis://:hunter2@b": (
        "a postgresql+asyncpg://[redacted]@[::1]/db\nb redis://[redacted]@b"
    ),
    "https://a/?x=1&api_key=hunter2&y=2#z": "https://a/?x=1&api_key=[redacted]&y=2#z",
    "/a?API-Key=hunter2": "/a?API-Key=[redacted]",
    "/a?key=hunter2;hunter2": "/a?key=[redacted]",
    "https://a/cb#access_token=hunter2&expires_in=5": "https://a/cb#access_token=[redacted]&expires_in=5",
    "a <https://b?sig=hunter2> c": "a <https://b?sig=[redacted]> c",
    "https://s3/a?X-Amz-Credential=hunter2&amp;X-Amz-Signature=hunter2": (
        "https://s3/a?X-Amz-Credential=[redacted]&amp;X-Amz-Signature=[redacted]"
    ),
    "?clientSecret=hunter2&password=hunter2 next\tline": "?clientSecret=[redacted]&password=[redacted] next\tline",
    'curl "https://u:hunter2@a?token=hunter2" \\': 'curl "https://[redacted]@a?token=[redacted]" \\',
}


@pytest.mark.parametrize(("text", "left"), REDACTED.items())
def test_secrets_in_urls_are_redacted_inside_of_texts(text: str, left: str) -> None:
    for ascii_only in (False, True):
        message = {"a": [{text: {"_meta": text}}]}
        assert json.loads(redact(json.dumps(message, ensure_ascii=ascii_only).encode())) == {
            "a": [{left: {"_meta": left}}]
        }


@pytest.mark.parametrize(
    "text",
    [
        "https://host/@user?a=b@c",
        "https://host mail@example.com",
        '{"url":"https://host","mail":"a@b"}',
        "a@b://c",
        "https://a?page=2&max_tokens=5&keys=1",
        "token=5 is not in a URL",
        "a ? b : key = 5",
    ],
)
def test_texts_that_only_look_like_urls_with_secrets_are_kept(text: str) -> None:
    assert json.loads(redact(json.dumps(text).encode())) == text


@pytest.mark.parametrize("key", ["env", "headers"])
def test_the_values_of_env_and_headers_are_redacted(key: str) -> None:
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


def test_any_json_can_be_redacted() -> None:
    redacted = json.loads(redact(message(params={"\ud83d": nested(150), "env": nested(150)})))
    assert redacted["params"]["env"] == ["[redacted]"]
    assert redacted["params"]["\ud83d"] == nested(150)
    assert json.loads(redact(message(params=b"[1e999, 1]"))) == {"jsonrpc": "2.0", "params": [math.inf, 1]}
    for odd in (b"NaN", b"7" * 6000, nested_json(300), nested_json(FAR_TOO_DEEP), b"[" * FAR_TOO_DEEP):
        assert len(redact(message(params=odd))) < 100
