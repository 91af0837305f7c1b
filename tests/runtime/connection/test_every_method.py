"""Rules 10, 14 and 28 for every method in the tables."""

from __future__ import annotations

import asyncio
import importlib
from types import SimpleNamespace
from typing import Any

import pytest

from acp_bindings.v1 import methods
from acp_runtime.connection.guards import relative_paths
from acp_runtime.errors import InvalidResponse, MethodNotFound
from acp_runtime.jsonrpc.decoding import Decoder
from acp_runtime.jsonrpc.encoding import dump
from acp_runtime.jsonrpc.results import can_be_empty, parse_result
from acp_runtime.stubs.methods import Request
from acp_runtime.stubs.sides import Side
from tests.support.runtime.peer import LINKS, PlainAgent, PlainClient, calling, serving

PROFILES = ["v1", "v1_unstable", "v2_draft", "v2_draft_unstable"]
ROLES = ["agent", "client"]
SESSION = {"sessionId": "s", "cwd": "/", "mcpServers": []}
TERMINAL = {"sessionId": "s", "terminalId": "t"}
# Paths, and whether each is relative.
PATHS = {"src": True, "": True, "C:x": True, "~/x": True, "./x": True, "\\x": True, "/x": False, "C:\\x": False}
# Methods whose results may be empty, with valid params.
EMPTY: dict[str, Any] = {
    "authenticate": {"methodId": "m"},
    "logout": {},
    "session/load": SESSION,
    "session/resume": SESSION,
    "session/close": {"sessionId": "s"},
    "session/delete": {"sessionId": "s"},
    "session/set_mode": {"sessionId": "s", "modeId": "m"},
    "fs/write_text_file": {"sessionId": "s", "path": "/x", "content": ""},
    "terminal/release": TERMINAL,
    "terminal/wait_for_exit": TERMINAL,
    "terminal/kill": TERMINAL,
}


def side_of(profile: str, role: str) -> Side[Any]:
    found: Side[Any] = getattr(importlib.import_module(f"acp_bindings.{profile}.connecting"), f"{role.upper()}_SIDE")
    return found


def requests_of(profile: str, role: str) -> list[Request[Any, Any]]:
    return list(side_of(profile, role).requests.values())


async def nothing(*_: Any) -> None:
    """A handler that returns None."""


@pytest.mark.parametrize("method", EMPTY)
async def test_rule_10_none_from_a_handler_is_sent_as_an_empty_object(method: str) -> None:
    name = method.replace("/", "_")
    if method in methods.AGENT_REQUESTS:
        async with serving(LINKS["memory"], type("Silent", (PlainAgent,), {name: nothing})) as peer:
            assert (await peer.call(method, EMPTY[method]))["result"] == {}
    else:
        async with calling(LINKS["memory"], type("Silent", (PlainClient,), {name: nothing})) as (_, peer):
            assert (await peer.call(method, EMPTY[method]))["result"] == {}


def test_rule_10_the_methods_in_the_table_above_have_an_empty_result() -> None:
    known = {**methods.AGENT_REQUESTS, **methods.CLIENT_REQUESTS}
    assert {wire for wire, method in known.items() if can_be_empty(method)} >= set(EMPTY)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("profile", PROFILES)
def test_rule_10_null_is_accepted_only_for_empty_results(profile: str, role: str) -> None:
    response: Any = Decoder({}, {}).decode(b'{"jsonrpc":"2.0","id":1,"result":null}')
    for method in requests_of(profile, role):
        if method.result_type is Any:
            continue  # null is a result, too
        if can_be_empty(method):
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
        for field in method.paths:
            is_list = field == "additional_directories"
            others = dict.fromkeys(method.paths)
            for path, is_relative in PATHS.items():
                given: Any = ["/", path] if is_list else path
                params = SimpleNamespace(**{**others, field: given})
                assert list(relative_paths(method, params)) == ([(field, path)] if is_relative else []), method.wire
