"""An invalid value falls back to absent, and the field reads as the schema's default, an empty list or None."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest
from pydantic import ValidationError

from acp_bindings import v1
from acp_runtime import ABSENT, replace
from acp_runtime.models.json_values import wire_name
from tests.generated.agreement import differences
from tests.generated.lenient_corpus import Case, lenient_corpus
from tests.support.models.oracle import EmptyFallback, Oracle
from tests.support.models.profiles import Profile


def test_default_on_null_tolerates_null_and_no_other_invalid_value() -> None:
    message = '{"cwd": "/", "mcpServers": null, "additionalDirectories": null}'
    value = v1.NewSessionRequest.model_validate_json(message)
    assert (value.mcp_servers, value.additional_directories) == ([], [])
    assert value.model_dump_json() == '{"cwd":"/","mcpServers":[]}'
    for wrong in ('"mcpServers": 7', '"mcpServers": [null]', '"mcpServers": [], "additionalDirectories": "x"'):
        with pytest.raises(ValidationError):
            v1.NewSessionRequest.model_validate_json(f'{{"cwd": "/", {wrong}}}')
    with pytest.raises(ValidationError):
        v1.NewSessionRequest.model_validate_json('{"cwd": "/"}')


@pytest.mark.parametrize("profile", ["v1", "v1_unstable"])
def test_an_mcp_server_without_env_has_none_and_is_sent_with_an_empty_list(profile: str) -> None:
    acp: Any = import_module(f"acp_bindings.{profile}")
    server = {"name": "files", "command": "/bin/files", "args": []}
    for given in (server, {**server, "env": None}, {**server, "env": []}):
        request = acp.NewSessionRequest.model_validate_json(json.dumps({"cwd": "/", "mcpServers": [given]}))
        assert request.mcp_servers == [acp.McpServerStdio(name="files", command="/bin/files", args=[], env=[])]
        assert json.loads(request.model_dump_json())["mcpServers"] == [{**server, "env": []}]
    for wrong in ({**server, "env": 5}, {**server, "env": [{}]}, {"name": "files", "command": "/bin/files"}):
        with pytest.raises(ValidationError):
            acp.McpServerStdio.model_validate(wrong)


def test_an_mcp_server_without_env_is_not_built_but_can_be_copied() -> None:
    untyped: Any = v1.McpServerStdio
    for env in ({}, {"env": ABSENT}):
        with pytest.raises(ValidationError, match=r"env\s+Field required"):
            untyped(name="files", command="/bin/files", args=[], **env)
    server = v1.McpServerStdio.model_validate({"name": "files", "command": "/bin/files", "args": []})
    assert "env" not in server.model_fields_set
    assert replace(server, name="other") == v1.McpServerStdio(name="other", command="/bin/files", args=[], env=[])


def falls_back(oracle: Oracle, case: Case) -> bool:
    """Return whether the message is valid once the value of the case's key has fallen back."""
    if case.key not in case.input:
        return False
    schema = case.profile.definitions[case.definition]
    tolerated = oracle.with_fallbacks(schema, case.input)
    has_fallen_back = isinstance(tolerated.get(case.key), EmptyFallback) or case.key not in tolerated
    return has_fallen_back and oracle.is_valid(schema, tolerated)


def read_when_absent(schema: Any) -> Any:
    """Return the JSON that an absent field means by the schema."""
    if "default" in schema:
        return schema["default"]
    match schema.get("type"):
        case "array":
            return []
        case "object":
            return {}
        case _:
            return None


def test_a_field_that_falls_back_reads_as_its_default_or_empty_or_none(profile: Profile) -> None:
    oracle = profile.oracle
    cases = [case for case in lenient_corpus(profile) if falls_back(oracle, case)]
    assert len(cases) > 300
    for case in cases:
        value = profile.adapter(case.definition).validate_json(json.dumps(case.input))
        name = next(name for name in type(value).model_fields if wire_name(name) == case.key)
        assert not differences(getattr(value, name), read_when_absent(case.schema)), case
        is_required = type(value).model_fields[name].is_required()
        assert (name in value.model_fields_set) == is_required
        dumped = json.loads(profile.adapter(case.definition).dump_json(value))
        assert dumped[case.key] == [] if is_required else case.key not in dumped


def test_valid_items_keep_their_order_when_others_are_skipped(profile: Profile) -> None:
    oracle = profile.oracle
    cases = [case for case in lenient_corpus(profile) if len(_items(case)) > 3]
    assert len(cases) > 100
    for case in cases:
        kept = [item for item in _items(case) if oracle.is_valid(case.schema["items"], item)]
        value = profile.adapter(case.definition).validate_json(json.dumps(case.input))
        dumped = json.loads(profile.adapter(case.definition).dump_json(value))[case.key]
        assert _is_subsequence(kept, dumped)


def _items(case: Case) -> list[Any]:
    value = case.input.get(case.key)
    return value if isinstance(value, list) else []


def _is_subsequence(few: list[Any], many: list[Any]) -> bool:
    rest = iter(many)
    return all(any(item == candidate for candidate in rest) for item in few)
