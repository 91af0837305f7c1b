"""Opening a connection fails with the same error over both transports, which says why and what to check."""

from __future__ import annotations

import socket
from traceback import format_exception

import pytest

from acp_bindings import v1
from acp_kit.remote import open_transport
from acp_runtime import ConnectionClosed
from tests.kit.remote.client.http_agent import INITIALIZE, http_agent
from tests.support.runtime.peer import PlainClient, line

SCHEMES = ("http", "ws")


async def failure(url: str, headers: dict[str, str] | None = None) -> str:
    """Return why a client can't initialize."""
    with pytest.raises(ConnectionClosed) as raised:
        async with v1.connect(PlainClient, await open_transport(url, headers=headers)) as agent:
            await agent.initialize(protocol_version=1)
    return raised.value.reason


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("status", "check"),
    [
        (200, "the URL"),
        (301, "the URL"),
        (400, "the URL"),
        (401, "the credentials"),
        (403, "the path, the credentials and the allowed hosts"),
        (404, "the path"),
        (500, "its log"),
        (503, "its log"),
    ],
)
async def test_a_refusal_has_the_url_status_and_text_and_advice(scheme: str, status: int, check: str) -> None:
    async with http_agent() as agent:
        for place in ("POST initialize", "GET"):
            agent.answer(place, status, "ask\nthe\x1b[2J owner")
        url = agent.url.replace("http", scheme)
        request = f"{'POST' if scheme == 'http' else 'GET'} {url}"
        reason = await failure(url.replace("//", "//user:secret@") + "?token=secret")
    assert f"The agent answered {request} with HTTP {status} Status" in reason
    assert f"(check {check})" in reason
    if status != 200:
        assert r": ask the\x1b[2J owner (check" in reason
    assert "secret" not in reason
    assert len(agent.requests) == 1


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_redirects_do_not_take_headers_elsewhere(scheme: str) -> None:
    async with http_agent() as agent, http_agent() as other:
        for place in ("POST initialize", "GET"):
            agent.answer(place, 307, Location=other.url.replace("http", scheme))
        reason = await failure(agent.url.replace("http", scheme), {"Authorization": "secret"})
        assert "redirects are not followed" in reason
        assert (len(agent.requests), other.requests) == (1, [])


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_an_agent_that_is_not_there_is_an_error(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    url = f"{scheme}://127.0.0.1:{port}/acp"
    assert f"The connection to the agent at {url} failed: " in await failure(url)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["", "X Y", "X:", "X\r\nEvil: 1", "X\n", "é", "X\x1b"])
async def test_a_name_that_no_header_can_have_is_refused(scheme: str, name: str) -> None:
    with pytest.raises(ValueError, match="can't be the name of a header"):
        await open_transport(f"{scheme}://127.0.0.1:1/acp", headers={name: "value"})


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("//user:secret@127.0.0.1:1/acp?token=secret#secret", {}),
        ("//127.0.0.1:1/acp", {"Authorization": "secret\n"}),
        ("//user:secret@[/acp", {}),
        ("//user:secret@127.0.0.1:99999/acp", {}),
    ],
)
async def test_secrets_are_not_in_messages(scheme: str, url: str, headers: dict[str, str]) -> None:
    with pytest.raises((ConnectionClosed, OSError, ValueError)) as raised:
        transport = await open_transport(f"{scheme}:{url}", headers=headers)
        try:
            await transport.send(line(INITIALIZE))
        finally:
            await transport.close()
    assert "secret" not in "".join(format_exception(raised.value, limit=0))
