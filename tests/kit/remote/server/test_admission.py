"""Who may send requests: the checks before anything else answers, and which answers pages of listed sites may read."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from acp_kit.remote import Bounds, HTTPRequest, Refused, agent_app
from tests.support.kit.remote_agents import echo
from tests.support.kit.remote_servers import EVENTS, INITIALIZE, JSON, SERVERS, serving

_SITE = "https://trusted.example"
_LIST = {"jsonrpc": "2.0", "id": 9, "method": "session/list", "params": {}}


def _user(request: HTTPRequest) -> str:
    if not (user := request.headers.get("Authorization")):
        raise Refused(401, "Who are you?")
    return user


@pytest.mark.parametrize("server", SERVERS)
async def test_host_origin_and_token_are_checked_before_the_path(server: str) -> None:
    async with serving(agent_app(echo, authenticate=_user), server) as site:
        for path in ("/acp", "/acp/", "/", "/other"):
            for method in ("GET", "POST", "OPTIONS", "PUT"):
                for headers in (
                    {"Host": "evil.example"},
                    {"Host": "127.0.0.1:\xb2"},
                    {"Origin": "https://evil.example"},
                ):
                    refused = await site.request(method, {"Authorization": "ada", **headers}, path=path)
                    assert (refused.status, refused.headers.get("location")) == (403, None)
                assert (await site.request(method, {}, path=path)).status == 401
        assert (await site.request("GET", {"Authorization": "ada"}, path="/acp/")).status == 404


async def test_other_machines_are_refused_without_authentication_or_a_word() -> None:
    async def status(app: Any, server: tuple[str, int | None] | None) -> int:
        sent: list[Any] = []

        async def send(event: Any) -> None:
            sent.append(event)

        async def receive() -> Any:
            return {"type": "http.request"}

        scope = {
            "type": "http",
            "method": "PUT",
            "path": "/acp",
            "headers": [(b"host", b"localhost")],
            "server": server,
        }
        await app(scope, receive, send)
        return int(sent[0]["status"])

    for server in (("192.0.2.1", 80), ("2001:db8::1", 80), ("0.0.0.0", 80)):
        assert await status(agent_app(echo), server) == 403
        assert await status(agent_app(echo, anonymous=True), server) == 405
        assert await status(agent_app(echo, authenticate=lambda _: "ada"), server) == 405
    local: list[tuple[str, int | None] | None] = [("127.0.0.1", 80), ("::1", 80), ("/run/agent.sock", None), None]
    for address in local:
        assert await status(agent_app(echo), address) == 405


@pytest.mark.parametrize("server", SERVERS)
async def test_pages_of_listed_sites_may_use_the_agent_over_http(server: str) -> None:
    async with serving(agent_app(echo, authenticate=_user, origins=[_SITE]), server) as site:
        asked = "content-type, acp-connection-id"
        ask = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": asked}
        allowed = await site.request("OPTIONS", {"Origin": _SITE, **ask})
        assert allowed.status == 200
        assert allowed.headers["access-control-allow-origin"] == _SITE
        assert allowed.headers["access-control-allow-headers"] == asked
        assert allowed.headers["access-control-allow-methods"] == "POST, GET, DELETE"
        page = {"Origin": _SITE, "Authorization": "ada"}
        opened = await site.request("POST", {**JSON, **page}, INITIALIZE)
        assert opened.headers["access-control-expose-headers"] == "Acp-Connection-Id"
        id = {"Acp-Connection-Id": opened.headers["acp-connection-id"]}
        refused = await site.request("POST", {**JSON, **id, "Origin": _SITE}, _LIST)
        assert (refused.status, refused.headers["access-control-allow-origin"]) == (401, _SITE)
        reader, writer = await site.begin("GET", {**EVENTS, **page, **id})
        assert f"access-control-allow-origin: {_SITE}".encode() in (await reader.readuntil(b"\r\n\r\n")).lower()
        writer.close()
        for headers in ({}, {"Origin": f"http://127.0.0.1:{site.port}"}):
            assert "access-control-allow-origin" not in (await site.request("OPTIONS", {**ask, **headers})).headers


async def test_one_identity_has_at_most_half_of_the_connections() -> None:
    async with serving(agent_app(echo, authenticate=_user, bounds=Bounds(connections=4))) as site:
        users = ["ada", "ada", "ada", "eve", "eve", "bob"]
        responses = [await site.request("POST", {**JSON, "Authorization": user}, INITIALIZE) for user in users]
        assert [response.status for response in responses] == [200, 200, 503, 200, 200, 503]


async def test_exceptions_of_other_packages_are_understood_and_others_are_not_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class HTTPException(Exception):
        def __init__(self, status_code: int, detail: str, headers: dict[str, str]) -> None:
            self.status_code, self.detail, self.headers = status_code, detail, headers

    def authenticate(request: HTTPRequest) -> None:
        if user := request.headers.get("authorization"):
            raise RuntimeError(f"no such user in secret_table: {user}")
        raise HTTPException(401, "Who are you?", {"WWW-Authenticate": "Basic"})

    async with serving(agent_app(echo, authenticate=authenticate), errors=1) as site:
        refused = await site.request("GET", {})
        assert (refused.status, refused.headers["www-authenticate"]) == (401, "Basic")
        assert refused.json["error"]["message"] == "Who are you?"
        failed = await site.request("GET", {"Authorization": "\x9b31m"})
        assert failed.status == 500
        assert b"secret" not in failed.body
    texts = [logging.Formatter().format(record) for record in caplog.records if record.levelno == logging.ERROR]
    assert "secret_table: \\x9b31m" in texts[0]


async def test_the_path_is_below_that_of_an_application_that_contains_it() -> None:
    agent = agent_app(echo, path="/acp")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await agent({**scope, "root_path": "/agents"}, receive, send)

    async with serving(app, options={"lifespan": "off"}) as site:
        assert (await site.request("POST", JSON, INITIALIZE, "/agents/acp")).status == 200
        assert (await site.request("POST", JSON, INITIALIZE, "/agents")).status == 404
