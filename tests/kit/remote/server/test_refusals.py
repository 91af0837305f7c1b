"""Hostile and broken HTTP requests: each gets its status, nothing is left of it, and the connection goes on."""

from __future__ import annotations

import gzip
import json
from typing import Any, NamedTuple

import pytest

from acp_kit.remote import Bounds, agent_app
from tests.support.kit.remote_agents import echo
from tests.support.kit.remote_servers import EVENTS, INITIALIZE, JSON, SERVERS, serving

_BOUNDS = Bounds(message_bytes=10_000)
_LIST = {"jsonrpc": "2.0", "id": 9, "method": "session/list", "params": {}}
_PROMPT = {"jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}
_ID = ("Acp-Connection-Id", "{id}")


class Case(NamedTuple):
    """A request. In its headers, {id} is an open connection, {ended} an ended one, and {port} the server's port."""

    name: str
    status: int
    method: str
    headers: list[tuple[str, str]]
    body: Any = b""
    path: str = "/acp"


def _post(name: str, status: int, body: Any, *headers: tuple[str, str]) -> Case:
    json_type = [] if any(key == "Content-Type" for key, _ in headers) else [*JSON.items()]
    return Case(name, status, "POST", [*json_type, *headers], body)


def _chunked(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


_TOO_BIG = json.dumps({**_LIST, "params": {"text": "x" * 20_000}}).encode()
_CASES = [
    # The method and the path
    Case("PUT", 405, "PUT", [_ID]),
    Case("HEAD of a stream", 405, "HEAD", [_ID, *EVENTS.items()]),
    Case("OPTIONS", 405, "OPTIONS", [_ID]),
    Case("an unknown method", 405, "BREW", [_ID]),
    Case("another path", 404, "GET", [_ID, *EVENTS.items()], path="/acp/more"),
    # The id of the connection
    _post("no id", 400, _LIST),
    _post("an empty id", 400, _LIST, ("Acp-Connection-Id", "")),
    _post("an unknown id", 404, _LIST, ("Acp-Connection-Id", "unknown")),
    _post("an ended connection", 404, _LIST, ("Acp-Connection-Id", "{ended}")),
    _post("a very long id", 404, _LIST, ("Acp-Connection-Id", "x" * 10_000)),
    _post("two ids", 400, _LIST, _ID, ("Acp-Connection-Id", "unknown")),
    _post("the same id twice", 400, _LIST, _ID, _ID),
    _post("an id with a space", 404, _LIST, ("Acp-Connection-Id", "{id} {id}")),
    _post("an id of another case", 404, _LIST, ("Acp-Connection-Id", "{swapped}")),
    Case("GET without an id", 400, "GET", [*EVENTS.items()]),
    Case("GET of an unknown connection", 404, "GET", [*EVENTS.items(), ("Acp-Connection-Id", "unknown")]),
    Case("GET of an ended connection", 404, "GET", [*EVENTS.items(), ("Acp-Connection-Id", "{ended}")]),
    Case("DELETE without an id", 400, "DELETE", []),
    Case("DELETE of an unknown connection", 404, "DELETE", [("Acp-Connection-Id", "unknown")]),
    Case("DELETE of an ended connection", 404, "DELETE", [("Acp-Connection-Id", "{ended}")]),
    # The id of the session
    _post("a header that contradicts the params", 400, _PROMPT, _ID, ("Acp-Session-Id", "another")),
    _post("two sessions", 400, _PROMPT, _ID, ("Acp-Session-Id", "s"), ("Acp-Session-Id", "another")),
    _post("a long session", 400, _LIST, _ID, ("Acp-Session-Id", "x" * 1025)),
    _post("a long session in the params", 400, {**_PROMPT, "params": {"sessionId": "x" * 1025}}, _ID),
    _post("a long id of a request", 400, {**_LIST, "id": "x" * 1025}, _ID),
    Case("GET of a long session", 400, "GET", [_ID, *EVENTS.items(), ("Acp-Session-Id", "x" * 1025)]),
    # The body
    _post("initialize on a connection", 400, INITIALIZE, _ID),
    _post("initialize without an id of its own", 400, {**INITIALIZE, "id": None}),
    _post("initialize with an id that is none", 400, {**INITIALIZE, "id": True}),
    _post("a notification to begin with", 400, {"jsonrpc": "2.0", "method": "initialize"}),
    _post("a batch", 501, [_LIST], _ID),
    _post("a batch to begin with", 501, [INITIALIZE]),
    _post("an empty batch", 501, [], _ID),
    _post("no body", 400, b"", _ID),
    _post("no JSON", 400, b"{", _ID),
    _post("a text", 400, "text", _ID),
    _post("NaN", 400, b'{"id": NaN}', _ID),
    _post("broken UTF-8", 400, b'{"method": "\xff"}', _ID),
    _post("an overlong NUL in UTF-8", 400, b'{"method": "\xc0\x80"}', _ID),
    _post("UTF-16", 400, '{"jsonrpc": "2.0"}'.encode("utf-16"), _ID),
    _post("deep nesting", 400, b'{"a":' + b"[" * 5000 + b"]" * 4000, _ID),
    _post("two messages", 400, b"%b\n%b" % ((json.dumps(_LIST).encode(),) * 2), _ID),
    # Its type and its size
    _post("no type", 415, _LIST, _ID, ("Content-Type", "")),
    _post("a form", 415, _LIST, _ID, ("Content-Type", "application/x-www-form-urlencoded")),
    _post("text/plain", 415, _LIST, _ID, ("Content-Type", "text/plain")),
    _post("a type that begins alike", 415, _LIST, _ID, ("Content-Type", "application/json-seq")),
    _post("two types", 400, _LIST, _ID, ("Content-Type", "application/json"), ("Content-Type", "text/plain")),
    _post("a compression bomb", 415, gzip.compress(b" " * 100_000), _ID, ("Content-Encoding", "gzip")),
    _post("an unknown encoding", 415, _LIST, _ID, ("Content-Encoding", "br")),
    _post("a body that is too big", 413, _TOO_BIG, _ID),
    _post("a chunked one", 413, _chunked(_TOO_BIG), _ID, ("Transfer-Encoding", "chunked")),
    _post("one to begin with", 413, _TOO_BIG),
    # What the client accepts, and upgrades
    Case("GET that accepts JSON", 406, "GET", [_ID, ("Accept", "application/json")]),
    Case("GET that upgrades to h2c", 426, "GET", [_ID, *EVENTS.items(), ("Upgrade", "acp"), ("Connection", "upgrade")]),
    # Host and Origin
    _post("another host", 403, _LIST, _ID, ("Host", "attacker.example")),
    _post("another host that begins alike", 403, _LIST, _ID, ("Host", "127.0.0.1.attacker.example")),
    _post("another host at our port", 403, _LIST, _ID, ("Host", "attacker.example:{port}")),
    _post("a host with a user", 403, _LIST, _ID, ("Host", "127.0.0.1@attacker.example")),
    _post("another site", 403, _LIST, _ID, ("Origin", "https://attacker.example")),
    _post("another port of this host", 403, _LIST, _ID, ("Origin", "http://127.0.0.1:1")),
    _post("a site that begins alike", 403, _LIST, _ID, ("Origin", "http://127.0.0.1:{port}.attacker.example")),
    _post("a page without a site", 403, _LIST, _ID, ("Origin", "null")),
    _post("a site that is no URL", 403, _LIST, _ID, ("Origin", "http://[::1")),
    _post("two sites", 400, _LIST, _ID, ("Origin", "https://trusted.example"), ("Origin", "https://b.example")),
    Case("GET of another site", 403, "GET", [_ID, *EVENTS.items(), ("Origin", "https://attacker.example")]),
    Case("DELETE of another site", 403, "DELETE", [_ID, ("Origin", "https://attacker.example")]),
    # What looks odd, and is taken
    _post("parameters of the type", 202, _LIST, _ID, ("Content-Type", "Application/JSON; charset=utf-8")),
    _post("the encoding identity", 202, _LIST, _ID, ("Content-Encoding", "identity")),
    _post("names in another case", 202, _LIST, ("aCP-cONNECTION-iD", "{id}")),
    _post("a chunked body", 202, _chunked(json.dumps(_LIST).encode()), _ID, ("Transfer-Encoding", "chunked")),
    _post("newlines between tokens", 202, json.dumps(_LIST, indent=2).encode(), _ID),
    _post("the session in the params only", 202, _PROMPT, _ID),
    _post("the session twice", 202, _PROMPT, _ID, ("Acp-Session-Id", "s")),
    _post("a surrogate", 202, b'{"jsonrpc": "2.0", "method": "_x", "params": {"text": "\\ud83d"}}', _ID),
    _post("a trusted site", 202, _LIST, _ID, ("Origin", "https://trusted.example")),
    _post("the same host", 202, _LIST, _ID, ("Origin", "http://127.0.0.1:{port}")),
    _post("localhost", 202, _LIST, _ID, ("Host", "LocalHost")),
    _post("IPv6", 202, _LIST, _ID, ("Host", "[::1]:80")),
    _post("an unknown version", 202, _LIST, _ID, ("Acp-Protocol-Version", "99")),
]


@pytest.mark.parametrize("server", SERVERS)
async def test_a_request_gets_its_status(server: str) -> None:
    app = agent_app(echo, origins=["https://trusted.example"], bounds=_BOUNDS)
    async with serving(app, server) as site:
        id, ended = await site.initialize(), await site.initialize()
        await site.delete(ended)
        names = {"id": id, "ended": ended, "swapped": id.swapcase(), "port": str(site.port)}
        statuses: dict[str, int] = {}
        for case in _CASES:
            headers = [(name, value.format_map(names)) for name, value in case.headers]
            response = await site.request(case.method, headers, case.body, case.path)
            statuses[case.name] = response.status
            if response.status >= 400 and case.path == "/acp" and case.method != "HEAD":
                assert response.json["error"]["message"], case
            assert (await site.post(id, _LIST)).status == 202, f"{case} has ended the connection"
    assert statuses == {case.name: case.status for case in _CASES}


async def test_methods_that_are_allowed_are_named() -> None:
    async with serving(agent_app(echo)) as site:
        assert (await site.request("PUT", [])).headers["allow"] == "POST, GET, DELETE"


async def test_a_stream_has_one_reader() -> None:
    async with serving(agent_app(echo)) as site:
        id = await site.initialize()
        first, other = await site.stream(id), await site.stream(id, "s")
        for session in ({}, {"Acp-Session-Id": "s"}):
            assert (await site.request("GET", {**EVENTS, "Acp-Connection-Id": id, **session})).status == 409
        await first.close()
        await other.close()


async def test_a_refused_initialize_ends_the_connection() -> None:
    async with serving(agent_app(echo)) as site:
        response = await site.request("POST", JSON, {**INITIALIZE, "params": {}})
        assert response.status == 200
        assert response.json["error"]["code"] == -32602
        assert "acp-connection-id" not in response.headers


async def test_ids_of_connections_can_not_be_guessed() -> None:
    async with serving(agent_app(echo)) as site:
        ids = {await site.initialize() for _ in range(20)}
        assert len(ids) == 20
        assert min(map(len, ids)) * 6 >= 128  # a character of base 64 has 6 bits


@pytest.mark.parametrize("host", ["", "example.org:8000", "https://example.org", "*.example.org", "::1", "[::1]:8000"])
def test_a_host_that_would_match_nothing_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match="is not a host name: write it without a scheme, a port"):
        agent_app(echo, hosts=["localhost", host])


@pytest.mark.parametrize("origin", ["", "example.org", "https://example.org/", "https://*.example.org", "https://"])
def test_an_origin_that_would_match_nothing_is_refused(origin: str) -> None:
    with pytest.raises(ValueError, match=r"is not an origin: write one such as https://example\.org"):
        agent_app(echo, origins=["https://trusted.example", origin])
