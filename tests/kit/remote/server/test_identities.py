"""Who may use which connection."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from acp_kit.remote import HTTPRequest, Refused, agent_app
from acp_runtime.transports import Transport
from tests.support.kit.remote_agents import echo
from tests.support.kit.remote_servers import EVENTS, INITIALIZE, JSON, SERVERS, serving

_LIST = {"jsonrpc": "2.0", "id": 9, "method": "session/list", "params": {}}


def _user(request: HTTPRequest) -> str:
    user = request.headers.get("authorization")
    if user is None:
        raise Refused(401, "Who are you?", headers={"WWW-Authenticate": "Bearer"})
    return user


async def _user_later(request: HTTPRequest) -> str:
    return _user(request)


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("authenticate", [_user, _user_later])
async def test_each_request_is_authenticated(authenticate: Callable[[HTTPRequest], Any], server: str) -> None:
    served: list[str] = []

    async def serve(transport: Transport, user: str) -> None:
        served.append(user)
        await echo(transport, user)

    async with serving(agent_app(serve, authenticate=authenticate), server) as site:
        ada = {"Authorization": "ada"}
        response = await site.request("POST", {**JSON, **ada}, INITIALIZE)
        id = {"Acp-Connection-Id": response.headers["acp-connection-id"]}
        assert served == ["ada"]
        for method, headers, body in (("POST", JSON, _LIST), ("GET", EVENTS, b""), ("DELETE", {}, b"")):
            request = partial(site.request, method, body=body)
            refused = await request(headers={**headers, **id})
            assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert refused.json["error"]["message"] == "Who are you?"
            assert (await request(headers={**headers, **id, "Authorization": "eve"})).status == 404
        assert (await site.request("POST", {**JSON, **id, **ada}, _LIST)).status == 202
        assert (await site.request("POST", JSON, INITIALIZE)).status == 401


@pytest.mark.parametrize("server", SERVERS)
async def test_a_websocket_is_authenticated(server: str) -> None:
    served: list[str] = []

    async def serve(transport: Transport, user: str) -> None:
        served.append(user)
        await echo(transport, user)

    async with serving(
        agent_app(serve, authenticate=_user), server, errors=None
    ) as site:  # uvicorn logs refusals as errors
        url = f"ws://127.0.0.1:{site.port}/acp"
        with pytest.raises(InvalidStatus) as refused:
            await connect(url)
        assert refused.value.response.status_code == 401
        assert refused.value.response.headers["www-authenticate"] == "Bearer"
        async with connect(url, additional_headers={"Authorization": "ada"}):
            pass
        assert served == ["ada"]
