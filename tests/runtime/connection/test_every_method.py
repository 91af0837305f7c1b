"""Rules 10, 14 and 28 for every method in the tables."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

import pytest
from pydantic.alias_generators import to_snake

from acp_bindings.v1 import methods
from acp_runtime.connection.places import MessagePlaces
from acp_runtime.errors import InvalidResponse, MethodNotFound
from acp_runtime.jsonrpc.decoding import Decoder
from acp_runtime.jsonrpc.encoding import dump
from acp_runtime.jsonrpc.results import parse_result
from acp_runtime.models.union_members import concrete_models
from acp_runtime.stubs.facts import Absolute
from acp_runtime.stubs.methods import Request
from acp_runtime.stubs.sides import Side
from tests.support.runtime.peer import LINKS, PlainAgent, PlainClient, calling, serving

PROFILES = ["v1", "v1_unstable", "v2_draft", "v2_draft_unstable"]
ROLES = ["agent", "client"]
SESSION = {"sessionId": "s", "cwd": "/", "mcpServers": []}
TERMINAL = {"sessionId": "s", "terminalId": "t"}
# Paths, and whether each is relative.
PATHS = {"src": True, "": True, "C:x": True, "~/x": True, "./x": True, "\\x": True, "/x": False, "C:\\x": False}
# Methods whose results have no fields, with valid params; and those whose results have only optional ones.
VOID: dict[str, Any] = {
    "authenticate": {"methodId": "m"},
    "logout": {},
    "session/close": {"sessionId": "s"},
    "session/delete": {"sessionId": "s"},
    "session/set_mode": {"sessionId": "s", "modeId": "m"},
    "fs/write_text_file": {"sessionId": "s", "path": "/x", "content": ""},
    "terminal/release": TERMINAL,
    "terminal/kill": TERMINAL,
}
OPTIONAL: dict[str, Any] = {"session/load": SESSION, "session/resume": SESSION, "terminal/wait_for_exit": TERMINAL}


def side_of(profile: str, role: str) -> Side[Any]:
    side: Side[Any] = getattr(importlib.import_module(f"acp_bindings.{profile}.connecting"), f"{role.upper()}_SIDE")
    return side


def requests_of(profile: str, role: str) -> list[Request[Any, Any]]:
    return list(side_of(profile, role).requests.values())


def has_no_required_field(method: Request[Any, Any]) -> bool:
    models = concrete_models(method.result_type)
    return bool(models) and not any(field.is_required() for model in models for field in model.model_fields.values())


async def nothing(*_: Any) -> None:
    """A handler that returns None."""


async def answer_to_none(method: str, params: Any) -> Any:
    """Return the answer to a request whose handler returns None."""
    silent = {method.replace("/", "_"): nothing}
    if method in methods.AGENT_REQUESTS:
        async with serving(LINKS["memory"], type("Silent", (PlainAgent,), silent)) as peer:
            return await peer.call(method, params)
    async with calling(LINKS["memory"], type("Silent", (PlainClient,), silent)) as (_, peer):
        return await peer.call(method, params)


@pytest.mark.parametrize("method", VOID)
async def test_rule_10_none_is_sent_as_an_empty_object_without_result_fields(method: str) -> None:
    assert (await answer_to_none(method, VOID[method]))["result"] == {}


@pytest.mark.parametrize("method", OPTIONAL)
async def test_rule_10_none_is_an_error_if_the_result_has_fields(method: str, caplog: pytest.LogCaptureFixture) -> None:
    assert (await answer_to_none(method, OPTIONAL[method]))["error"]["code"] == -32603
    result = methods.AGENT_REQUESTS.get(method) or methods.CLIENT_REQUESTS[method]
    fault = f"{method} returned None, not {result.result}."
    assert f"{fault} Return an instance of it for success; raise ResourceNotFound" in caplog.text


def test_rule_10_the_tables_separate_results_without_fields_from_optional_ones() -> None:
    known = {**methods.AGENT_REQUESTS, **methods.CLIENT_REQUESTS}
    assert all(has_no_required_field(known[wire]) for wire in (*VOID, *OPTIONAL))
    assert [wire for wire in OPTIONAL if known[wire].result_type.model_fields.keys() == {"meta"}] == []
    assert [wire for wire in VOID if known[wire].result_type.model_fields.keys() != {"meta"}] == []


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("profile", PROFILES)
def test_rule_10_null_is_accepted_if_no_field_is_required(profile: str, role: str) -> None:
    response: Any = Decoder({}, {}).decode(b'{"jsonrpc":"2.0","id":1,"result":null}')
    for method in requests_of(profile, role):
        if method.result_type is Any:
            continue  # null is a result, too
        if has_no_required_field(method):
            assert dump(parse_result(method, response)) == b"{}"
        else:
            with pytest.raises(InvalidResponse, match=method.wire):
                parse_result(method, response)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("profile", PROFILES)
async def test_rule_14_optional_requests_raise_method_not_found_by_default(profile: str, role: str) -> None:
    base = side_of(profile, role).base
    abstract: frozenset[str] = getattr(base, "__abstractmethods__", frozenset())
    handler = type("Empty", (base,), dict.fromkeys(abstract, nothing))()
    optional = [method for method in requests_of(profile, role) if method.name not in abstract]
    assert optional
    for method in optional:
        with pytest.raises(MethodNotFound):
            await asyncio.ensure_future(getattr(handler, method.name)(None))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("profile", PROFILES)
def test_rule_28_relative_paths_are_found_in_the_params_of_every_method(profile: str, role: str) -> None:
    for method in requests_of(profile, role):
        paths = [fact for fact in method.params_facts if isinstance(fact, Absolute) and "." not in fact.place]
        for fact in paths:
            for path, is_relative in PATHS.items():
                given: Any = ["/", path] if fact.place == "additionalDirectories" else path
                params = method.params_type.model_construct(**{to_snake(fact.place): given})
                assert fact.rejects
                assert MessagePlaces(paths).find_violations(params) == ({fact: path} if is_relative else {})
