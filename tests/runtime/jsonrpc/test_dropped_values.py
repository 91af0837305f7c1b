"""What leniency drops is logged at DEBUG: path and type, no values."""

from __future__ import annotations

import asyncio
import importlib
import json
from logging import DEBUG, INFO
from typing import Any

import pytest
from pydantic import BaseModel

from acp_bindings.v1.connecting import AGENT_SIDE
from acp_runtime import ExtNotification
from acp_runtime.jsonrpc.decoding import Decoder
from acp_runtime.jsonrpc.messages import IncomingNotification, IncomingRequest
from acp_runtime.stubs.extensions import handled_method
from tests.support.runtime.peer import Link, calling

TEXT = {"type": "text", "text": "secret"}

# The params of a method in version 1, and what is logged of them after "Dropped params.".
PARAMS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "a value": (
        "initialize",
        {"protocolVersion": 1, "clientCapabilities": "secret"},
        ["clientCapabilities of initialize: an invalid str"],
    ),
    "a value inside of a lenient one": (
        "initialize",
        {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": "secret"}, "terminal": True}},
        ["clientCapabilities.fs.readTextFile of initialize: an invalid str"],
    ),
    "a value with a lone surrogate": (
        "initialize",
        {"protocolVersion": 1, "clientCapabilities": {"terminal": "secret \ud83d"}},
        ["clientCapabilities.terminal of initialize: an invalid str"],
    ),
    "items, of which one is kept in part": (
        "session/update",
        {
            "sessionId": "s",
            "update": {
                "sessionUpdate": "available_commands_update",
                "availableCommands": [
                    {"name": "secret"},
                    {"name": "a", "description": "b", "input": "secret"},
                    {"description": ["secret"]},
                ],
            },
        },
        [
            "update.availableCommands.0 of session/update: an invalid dict",
            "update.availableCommands.1.input of session/update: an invalid str",
            "update.availableCommands.2 of session/update: an invalid dict",
        ],
    ),
    "items before those that are kept": (
        "session/update",
        {
            "sessionId": "s",
            "update": {
                "sessionUpdate": "available_commands_update",
                "availableCommands": [
                    {"name": "a", "description": ["secret"]},
                    "secret",
                    {"name": "a", "description": "b"},
                ],
            },
        },
        [
            "update.availableCommands.0 of session/update: an invalid dict",
            "update.availableCommands.1 of session/update: an invalid str",
        ],
    ),
    "texts of a list": (
        "elicitation/create",
        {
            "mode": "form",
            "sessionId": "s",
            "message": "m",
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "p": {"type": "array", "items": {"type": "string", "enum": ["a"]}, "default": [5, "a", {}, "b"]}
                },
            },
        },
        [
            "requestedSchema.properties.p.default.0 of elicitation/create: an invalid int",
            "requestedSchema.properties.p.default.2 of elicitation/create: an invalid dict",
        ],
    ),
    "an object in place of a list": (
        "session/update",
        {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": {"secret": 1}}},
        ["update.entries of session/update: an invalid dict"],
    ),
    "null": (
        "session/load",
        {"sessionId": "s", "cwd": "/", "mcpServers": None, "additionalDirectories": None},
        [],
    ),
    "items of an unknown kind": (
        "session/update",
        {
            "sessionId": "s",
            "update": {
                "sessionUpdate": "tool_call_update",
                "toolCallId": "t",
                "content": [{"type": "secret"}, {"type": "content", "content": TEXT}, "secret"],
            },
        },
        ["update.content.0 of session/update: an invalid dict", "update.content.2 of session/update: an invalid str"],
    ),
    "a list that is required": (
        "session/update",
        {"sessionId": "s", "_meta": None, "update": {"sessionUpdate": "plan", "entries": "secret"}},
        ["update.entries of session/update: an invalid str"],
    ),
    "nothing": (
        "session/update",
        {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": TEXT, "unknown": 5}},
        [],
    ),
}


def decode(profile: str, method: str, params: Any) -> Any:
    """Decode a message of a method. Return its params."""
    tables = importlib.import_module(f"acp_bindings.{profile}.methods")
    requests = {**tables.AGENT_REQUESTS, **tables.CLIENT_REQUESTS}
    id = {"id": 1} if method in requests else {}
    message = Decoder(requests, {**tables.AGENT_NOTIFICATIONS, **tables.CLIENT_NOTIFICATIONS}).decode(
        json.dumps({"jsonrpc": "2.0", **id, "method": method, "params": params}).encode()
    )
    assert isinstance(message, (IncomingRequest, IncomingNotification))
    return message.params


@pytest.mark.parametrize("case", PARAMS)
def test_rule_30_each_dropped_value_is_logged_at_debug(case: str, caplog: pytest.LogCaptureFixture) -> None:
    method, params, expected = PARAMS[case]
    with caplog.at_level(DEBUG, "acp_runtime"):
        decode("v1", method, params)
    assert caplog.messages == [f"Dropped params.{path}" for path in expected]
    assert {record.levelno for record in caplog.records} <= {DEBUG}
    assert "secret" not in caplog.text


def test_rule_30_of_many_dropped_values_in_a_message_ten_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    update = {"sessionUpdate": "available_commands_update", "availableCommands": ["secret"] * 1000}
    with caplog.at_level(DEBUG, "acp_runtime"):
        decode("v1", "session/update", {"sessionId": "s", "update": update})
    assert len(caplog.messages) == 11
    assert caplog.messages[9] == "Dropped params.update.availableCommands.9 of session/update: an invalid str"
    assert caplog.messages[10] == "Dropped 990 more invalid values of session/update"


def test_rule_30_a_key_with_a_lone_surrogate_is_not_logged_as_dropped(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(DEBUG, "acp_runtime"):
        decode("v1", "initialize", {"protocolVersion": 1, "_meta": {"\ud83d": 1}})
    assert not caplog.records


def test_rule_30_keys_that_an_extensions_model_ignores_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Note(BaseModel):
        text: str

    note = handled_method(ExtNotification("_acme/note", Note), AGENT_SIDE.profile, "note")
    with caplog.at_level(DEBUG, "acp_runtime"):
        decoded = Decoder({}, {"_acme/note": note}).decode(
            b'{"jsonrpc":"2.0","method":"_acme/note","params":{"text":"a","more":1}}'
        )
    assert isinstance(decoded, IncomingNotification)
    assert not caplog.records


def test_rule_30_above_debug_nothing_is_logged_of_dropped_values(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(INFO, "acp_runtime"):
        decode("v1", *PARAMS["a value"][:2])
    assert not caplog.records


async def test_rule_30_dropped_values_of_a_result_are_logged(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        with caplog.at_level(DEBUG, "acp_runtime.jsonrpc"):
            id = (await peer.receive())["id"]
            await peer.send({"id": id, "result": {"sessionId": "s", "configOptions": [{"id": "secret"}]}})
            await call
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("acp_runtime")]
    assert ours == ["Dropped result.configOptions.0 of session/new: an invalid dict"]
