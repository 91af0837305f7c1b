"""Cookies are returned for as long as a connection lasts, and are handed on in a jar."""

from __future__ import annotations

from http.cookiejar import CookieJar

from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from acp_kit.remote import open_transport
from tests.kit.remote.client.http_agent import call, connected, http_agent


async def test_cookies_are_returned_on_all_requests_of_a_connection() -> None:
    async with http_agent() as agent:
        agent.answer("POST _one", 202, Set_Cookie="server=b; Path=/")
        async with connected(agent) as (client, _):
            await client.send(call(1, "_one"), call(2, "session/prompt", sessionId="s"))
        cookies = [(request.place, request.headers.get("cookie")) for request in agent.requests]
        assert cookies[:3] == [("POST initialize", None), ("GET", None), ("POST _one", None)]
        assert cookies[3:] == [(path, "server=b") for path in ("GET s", "POST session/prompt", "DELETE")]
        async with connected(agent):
            assert "cookie" not in agent.requests[-1].headers


async def test_a_jar_of_websockets_and_of_http_is_the_same() -> None:
    jar, received = CookieJar(), []

    def accept(_: ServerConnection, request: Request, response: Response) -> Response:
        received.append(request.headers.get("Cookie"))
        response.headers["Set-Cookie"] = "server=b; Path=/"
        return response

    async def ignore(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with serve(ignore, "127.0.0.1", 0, process_response=accept) as server, http_agent() as agent:
        url = "ws://127.0.0.1:{1}/acp".format(*server.sockets[0].getsockname())
        for _ in range(2):
            await (await open_transport(url, cookies=jar)).close()
        assert received == [None, "server=b"]
        async with connected(agent, cookies=jar):  # cookies don't depend on the port
            assert agent.requests[0].headers["cookie"] == "server=b"
