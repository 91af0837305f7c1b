"""`check_line` says how a connection reads a line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_bindings.v1 import InitializeResponse, PromptRequest
from acp_bindings.v1.connecting import AGENT_SIDE, CLIENT_SIDE
from acp_runtime.jsonrpc import CheckedLine, check_line

PROMPT = {"sessionId": "s", "prompt": [{"type": "text", "text": "hi"}]}


def call(method: str, params: Any, **more: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()


def answer(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, **members}).encode()


def test_the_params_and_results_are_models() -> None:
    assert check_line(AGENT_SIDE, call("session/prompt", PROMPT, id=1)) == CheckedLine(
        "request", PromptRequest.model_validate(PROMPT)
    )
    result = {"protocolVersion": 1}
    checked = check_line(CLIENT_SIDE, answer(result=result), "initialize")
    assert checked == CheckedLine("response", InitializeResponse(protocol_version=1))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (call("_acme/x", [1]), CheckedLine("notification", [1])),
        (call("session/cancel", {}), CheckedLine("notification", fault="sessionId: Field required")),
        (call("session/gone", {}), CheckedLine("notification", fault="the notification session/gone is unknown")),
        (call("session/prompt", {**PROMPT, "prompt": 5}, id=1), ("request", -32602, "prompt: Input should be a valid")),
        (call("session/gone", {}, id=1), ("request", -32601, "Method not found")),
        (b"Loading...", ("invalid", -32700, "10 bytes that are not JSON")),
        (b"[]", ("invalid", -32600, "2 bytes of JSON that are not a message: it is not an object")),
    ],
)
def test_calls_are_refused_with_the_code_and_the_field(line: bytes, expected: Any) -> None:
    checked = check_line(AGENT_SIDE, line)
    if isinstance(expected, CheckedLine):
        assert checked == expected
    else:
        kind, code, fault = expected
        assert (checked.kind, checked.value, checked.code) == (kind, None, code)
        assert fault in checked.fault


@pytest.mark.parametrize(
    ("line", "method", "checked"),
    [
        (answer(result={}), "session/new", CheckedLine("response", fault="sessionId: Field required")),
        (answer(result={"x": 1}), "_acme/x", CheckedLine("response", {"x": 1})),
        (answer(error={"code": -32000, "message": "m"}), "session/new", CheckedLine("response", code=-32000)),
        (
            answer(error={"message": "m"}),
            "session/new",
            CheckedLine("response", fault="its error has no integer `code` and string `message`"),
        ),
        (answer(), "session/new", CheckedLine("response", fault="it has neither a result nor an error")),
    ],
)
def test_responses_are_refused_with_the_field(line: bytes, method: str, checked: CheckedLine) -> None:
    assert check_line(CLIENT_SIDE, line, method) == checked
