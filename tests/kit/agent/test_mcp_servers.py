"""The MCP servers of a session are connected in one handler, used in others, and closed in yet another."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1_unstable
from acp_bindings.v1 import EnvVariable, HttpHeader, McpServerHttp, McpServerSse, McpServerStdio
from acp_kit import agent
from acp_kit.agent.mcp_servers import _http_client
from acp_runtime import InternalError, InvalidParams
from tests.support.kit import mcp_server
from tests.support.programs import output_of

# The group shares the import of mcp.
pytestmark = pytest.mark.xdist_group("packages")


def stdio(name: str, *args: str, **env: str) -> McpServerStdio:
    variables = [EnvVariable(name=key, value=value) for key, value in env.items()]
    return McpServerStdio(name=name, command=sys.executable, args=[mcp_server.__file__, *args], env=variables)


async def started(pid: Path) -> int:
    """Wait until a server has written its process id."""
    while not (pid.exists() and pid.read_text()):
        await asyncio.sleep(0.01)
    return int(pid.read_text())


def has_ended(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def said(result: Any) -> str:
    return result.content[0].text


async def in_task(work: Any) -> Any:
    """Run a coroutine in a task of its own, as each handler runs."""
    return await asyncio.create_task(work)


async def test_servers_connected_in_one_handler_are_used_and_closed_in_others(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    servers = agent.McpServers()
    await in_task(servers.connect([stdio("a", "pid", str(pid)), stdio("b", GREETING="hi")]))
    assert ([*servers], len(servers), "a" in servers) == (["a", "b"], 2, True)
    assert said(await in_task(servers["a"].call_tool("echo", {"text": "x"}))) == "x"
    assert said(await in_task(servers["b"].call_tool("echo", {"text": "x"}))) == "x hi"
    await in_task(servers.close())
    await servers.close()
    assert len(servers) == 0
    assert has_ended(int(pid.read_text()))


@pytest.mark.parametrize("pages", ["pages", "circle"])
async def test_the_tools_of_all_servers_are_listed_page_by_page(pages: str) -> None:
    async with agent.McpServers() as servers:
        await servers.connect([stdio("a", pages), stdio("b")])
        assert [(name, tool.name) for name, tool in await servers.tools()] == [
            ("a", "echo"),
            ("a", "second"),
            ("b", "echo"),
        ]


async def test_if_one_server_fails_none_stays_connected(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    servers = agent.McpServers()
    with pytest.raises(InternalError, match="The MCP server 'bad' can't be used: ") as raised:
        await servers.connect([stdio("good", "pid", str(pid)), stdio("bad", "fail")])
    assert raised.value.data == {"server": "bad"}
    assert len(servers) == 0
    assert not pid.exists() or has_ended(int(pid.read_text()))


async def test_a_command_that_does_not_exist_is_named() -> None:
    missing = McpServerStdio(name="x", command="/no/such/command", args=[], env=[])
    async with agent.McpServers() as servers:
        with pytest.raises(InternalError, match=r"The MCP server 'x' can't be used: .*No such file"):
            await servers.connect([missing])


async def test_a_server_that_does_not_answer_is_not_waited_for_too_long() -> None:
    async with agent.McpServers(connect_deadline=0) as servers:
        with pytest.raises(InternalError, match="The MCP server 'a' did not answer within 0 seconds"):
            await servers.connect([stdio("a", "silent")])


async def test_a_cancelled_connect_leaves_nothing_running(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    servers = agent.McpServers()
    connecting = asyncio.create_task(servers.connect([stdio("a", "pid", str(pid), "silent")]))
    process = await started(pid)
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert has_ended(process)


async def test_servers_that_are_closed_when_they_have_just_answered_are_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Not at the top, because the processes that don't run these tests need no mcp.
    from mcp import ClientSession

    servers, answered, initialize = agent.McpServers(), asyncio.Event(), ClientSession.initialize

    async def answer(session: ClientSession) -> Any:
        result = await initialize(session)
        answered.set()
        return result

    monkeypatch.setattr(ClientSession, "initialize", answer)
    connecting = asyncio.create_task(servers.connect([stdio("a")]))
    await answered.wait()
    await servers.close()
    with pytest.raises(InternalError, match="were closed"):
        await connecting
    assert not servers


async def test_two_servers_with_one_name_are_refused() -> None:
    async with agent.McpServers() as servers:
        with pytest.raises(InvalidParams, match="Two MCP servers have the name 'a'"):
            await servers.connect([stdio("a"), stdio("a")])
        connecting = asyncio.create_task(servers.connect([stdio("a")]))
        await asyncio.sleep(0)
        for _ in range(2):  # while it is connecting, and afterwards
            with pytest.raises(InvalidParams, match="Two MCP servers have the name 'a'"):
                await servers.connect([stdio("a")])
            await connecting
        assert [*servers] == ["a"]


@pytest.mark.parametrize(
    ("server", "kind"),
    [
        (McpServerHttp(name="a", url="http://localhost:1", headers=[]), "http"),
        (McpServerSse(name="a", url="http://localhost:1", headers=[]), "sse"),
        (v1_unstable.McpServerAcp(name="a", server_id="x"), "acp"),
    ],
)
async def test_a_kind_of_server_that_was_not_advertised_is_refused(server: Any, kind: str) -> None:
    servers = agent.McpServers(http=kind != "http", sse=kind != "sse")
    assert (servers.capabilities.http, servers.capabilities.sse) == (kind != "http", kind != "sse")
    with pytest.raises(InvalidParams, match=f"because its transport is {kind}"):
        await servers.connect([server])


async def test_what_is_no_message_and_no_utf8_does_not_stop_a_server() -> None:
    async with agent.McpServers() as servers:
        await servers.connect([stdio("a", "noisy")])
        assert [tool.name for _, tool in await servers.tools()] == ["echo"]


@asynccontextmanager
async def http_server() -> AsyncIterator[tuple[str, list[dict[str, str]]]]:
    """An MCP server by HTTP that answers with JSON, and the headers that it received."""
    received: list[dict[str, str]] = []
    connections: list[asyncio.Task[Any] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(asyncio.current_task())
        while request := await reader.readline():
            headers: dict[str, str] = {}
            while (line := (await reader.readline()).decode().strip()) != "":
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            received.append(headers)
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            message = json.loads(body) if body and request.startswith(b"POST") else {}
            writer.write(_response(message))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp", received
    finally:
        server.close()
        await asyncio.gather(*filter(None, connections))


def _response(message: dict[str, Any]) -> bytes:
    if "id" not in message:
        return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
    result = mcp_server.answer(message["method"], message.get("params") or {})
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def test_a_server_is_reached_by_http_with_its_headers() -> None:
    async with http_server() as (url, received), agent.McpServers(http=True) as servers:
        headers: Any = [{"name": "Authorization", "value": "Bearer x"}]
        server = McpServerHttp.model_validate({"type": "http", "name": "a", "url": url, "headers": headers})
        await servers.connect([server])
        assert said(await servers["a"].call_tool("echo", {"text": "x"})) == "x"
    assert {headers.get("authorization") for headers in received} == {"Bearer x"}


@asynccontextmanager
async def redirecting_server(location: str) -> AsyncIterator[str]:
    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    server = await asyncio.start_server(redirect, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"


@pytest.mark.parametrize("server", [McpServerHttp, McpServerSse])
async def test_a_redirect_to_another_server_is_named_and_that_server_gets_no_header(server: Any) -> None:
    secret = HttpHeader(name="Authorization", value="Bearer x")
    async with (
        http_server() as (elsewhere, received),
        redirecting_server(elsewhere) as url,
        agent.McpServers(http=True, sse=True) as servers,
    ):
        with pytest.raises(
            InternalError, match=f"'a' can't be used: it redirects to {elsewhere}, which is not followed"
        ):
            await servers.connect([server(name="a", url=url, headers=[secret])])
        assert received == []


def test_the_client_for_http_follows_no_redirects_by_itself() -> None:
    # Version 1 of `mcp` would let it.
    assert not _http_client(on_response=asyncio.sleep).follow_redirects


def test_the_package_is_not_loaded_until_a_client_passes_a_server() -> None:
    program = """
import asyncio, sys
from acp_kit.agent import McpServers

async def main():
    async with McpServers(http=True) as servers:
        await servers.connect([])
        assert not await servers.tools()

asyncio.run(main())
print("mcp" in sys.modules)
"""
    assert output_of(program) == "False"
