"""What the specification demands of messages, by example: what has to be there, and what newer peers may send."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from acp_bindings import v1, v2_draft as v2

INFO = {"name": "n", "version": "1"}
TEXT = {"type": "text", "text": "x"}
MODEL = {"type": "select", "id": "m", "name": "M", "currentValue": "a", "options": [{"value": "a", "name": "A"}]}
HTTP = {"type": "http", "name": "n", "url": "http://x", "headers": []}


def parse(declared: Any, message: Any) -> Any:
    return TypeAdapter(declared).validate_python(message)


def without(message: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name != key}


@pytest.mark.parametrize(
    ("declared", "message", "keys"),
    [
        pytest.param(v1.McpServer, HTTP, ["type", "name", "url", "headers"], id="v1-mcp-server"),
        pytest.param(v1.SessionConfigOption, MODEL, ["currentValue"], id="v1-config-option"),
        pytest.param(v2.InitializeRequest, {"protocolVersion": 2, "info": INFO}, ["info"], id="info-of-the-client"),
        pytest.param(
            v2.InitializeResponse, {"protocolVersion": 2, "capabilities": {}, "info": INFO}, ["info"], id="info"
        ),
        pytest.param(v2.Implementation, INFO, ["name", "version"], id="name-and-version"),
        pytest.param(v2.PromptResponse, {"messageId": "m"}, ["messageId"], id="id-of-the-user-message"),
        pytest.param(
            v2.SessionUpdate,
            {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": TEXT},
            ["messageId"],
            id="id-of-a-chunk",
        ),
        pytest.param(
            v2.SessionUpdate,
            {"sessionUpdate": "user_message", "messageId": "m", "content": [TEXT]},
            ["messageId"],
            id="id-of-a-message",
        ),
        pytest.param(
            v2.PlanUpdateContent, {"type": "items", "planId": "p", "entries": []}, ["planId"], id="id-of-a-plan"
        ),
        pytest.param(v2.PlanUpdateContent, {"type": "_x", "planId": "p"}, ["planId"], id="id-of-another-plan"),
        pytest.param(v2.ResumeSessionRequest, {"sessionId": "s", "cwd": "/"}, ["sessionId", "cwd"], id="resume"),
        pytest.param(v2.McpServer, {"type": "stdio", "name": "n", "command": "/x"}, ["type"], id="mcp-server"),
        pytest.param(v2.ReplayFrom, {"type": "start"}, ["type"], id="replay-from"),
    ],
)
def test_what_has_to_be_there_is_demanded(declared: Any, message: dict[str, Any], keys: list[str]) -> None:
    parse(declared, message)
    for key in keys:
        with pytest.raises(ValidationError):
            parse(declared, without(message, key))


def test_a_prompt_and_the_values_of_an_option_are_not_empty_in_version_2() -> None:
    prompt = {"sessionId": "s", "prompt": [TEXT]}
    option = {**without(MODEL, "id"), "configId": "m"}
    parse(v2.PromptRequest, prompt)
    parse(v2.SessionConfigOption, option)
    with pytest.raises(ValidationError):
        parse(v2.PromptRequest, {**prompt, "prompt": []})
    with pytest.raises(ValidationError):
        v2.PromptRequest(session_id="s", prompt=[])
    with pytest.raises(ValidationError):
        parse(v2.SessionConfigOption, {**option, "options": []})


def test_a_login_method_without_a_type_is_one_of_the_agent() -> None:
    assert type(parse(v1.AuthMethod, {"id": "m", "name": "M"})) is v1.AuthMethodAgent
    with pytest.raises(ValidationError):
        parse(v2.AuthMethod, {"methodId": "m", "name": "M"})


def test_an_unknown_category_is_kept_and_an_option_of_an_unknown_type_is_skipped() -> None:
    slider = {"type": "slider", "id": "s", "name": "S", "currentValue": 5}
    message = {"sessionId": "s", "configOptions": [slider, {**MODEL, "category": "_mine"}, MODEL]}
    options = parse(v1.NewSessionResponse, message).config_options
    assert [(option.id, option.category) for option in options] == [("m", "_mine"), ("m", None)]


def test_plan_entries_of_unknown_priorities_are_skipped_in_version_1_only() -> None:
    entries = [{"content": text, "priority": text, "status": "pending"} for text in ("high", "_urgent")]
    plan = parse(v1.SessionUpdate, {"sessionUpdate": "plan", "entries": entries})
    assert [entry.priority for entry in plan.entries] == ["high"]
    plan = parse(v2.PlanUpdateContent, {"type": "items", "planId": "p", "entries": entries})
    assert [entry.priority for entry in plan.entries] == ["high", "_urgent"]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        pytest.param(v1.CreateElicitationResponse, {"action": "postpone"}, id="v1-elicitation"),
        pytest.param(v2.CreateElicitationResponse, {"action": "postpone"}, id="elicitation"),
        pytest.param(v1.ElicitationPropertySchema, {"type": "_x", "a": 1}, id="v1-form-field"),
        pytest.param(v2.ElicitationPropertySchema, {"type": "_x", "a": 1}, id="form-field"),
        pytest.param(v2.RequestPermissionOutcome, {"outcome": "maybe", "optionId": "yes"}, id="outcome"),
        pytest.param(v2.SessionUpdate, {"sessionUpdate": "state_update", "state": "_busy"}, id="state"),
        pytest.param(v2.AuthMethod, {"type": "_x", "methodId": "m", "name": "M"}, id="login"),
        pytest.param(v2.ContentBlock, {"type": "_x", "text": "t"}, id="content"),
        pytest.param(v2.PlanUpdateContent, {"type": "_x", "planId": "p", "a": 1}, id="plan"),
        pytest.param(v2.ToolCallContent, {"type": "_x", "a": 1}, id="content-of-a-tool-call"),
        pytest.param(v2.SessionConfigOption, {**MODEL, "type": "_x", "configId": "m"}, id="option"),
        pytest.param(
            v2.SetSessionConfigOptionRequest,
            {"sessionId": "s", "configId": "c", "type": "_x", "value": 5},
            id="value-of-an-option",
        ),
        pytest.param(v2.AvailableCommandInput, {"type": "_x", "a": 1}, id="input-of-a-command"),
        pytest.param(v2.McpServer, {"type": "_x", "a": 1}, id="mcp-server"),
        pytest.param(v2.ReplayFrom, {"type": "_x", "a": 1}, id="replay-from"),
    ],
)
def test_an_unknown_variant_is_none_of_the_known_ones_and_is_passed_on_unchanged(
    declared: Any, message: dict[str, Any]
) -> None:
    value = parse(declared, message)
    assert type(value).__name__.endswith("Other")
    assert TypeAdapter(declared).dump_python(value, mode="json", by_alias=True) == message


def test_an_unknown_outcome_of_a_permission_request_is_an_error_in_version_1() -> None:
    with pytest.raises(ValidationError):
        parse(v1.RequestPermissionResponse, {"outcome": {"outcome": "maybe", "optionId": "yes"}})


def test_kind_and_status_of_a_tool_call_may_be_unknown_in_version_2() -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "kind": "_x", "status": "_y", "title": None}
    call = parse(v2.SessionUpdate, update)
    assert (call.kind, call.status) == ("_x", "_y")
    assert call.model_dump(mode="json", by_alias=True, exclude_unset=True) == update


def test_the_id_of_a_request_is_never_null_in_version_2() -> None:
    parse(v1.CancelRequestNotification, {"requestId": None})
    with pytest.raises(ValidationError):
        parse(v2.CancelRequestNotification, {"requestId": None})
