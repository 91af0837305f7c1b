"""The MCP servers that a client passes with a session, as sessions of the `mcp` package.

It needs the extra `mcp`: `pip install 'acp-bindings[mcp]'`. Importing that package takes long, so it is imported
when a client first passes a server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

from acp_bindings.v1 import McpCapabilities, McpServer
from acp_kit.agent.errors import reason_of
from acp_kit.common.extras import require
from acp_runtime import InternalError, InvalidParams
from acp_runtime.escaping import printable

if TYPE_CHECKING:
    import mcp
    from mcp.types import Tool


# How long a server may take to accept a request, and to send the next part of a stream.
_HTTP_SECONDS = 30.0
_STREAM_SECONDS = 300.0


class McpServers(Mapping[str, "mcp.ClientSession"]):
    """The connections to the MCP servers of one session.

    `connect` may be called in one handler and `close` in another. The `mcp` package requires that a connection is
    opened and closed by the same task, so each connection has a task of its own.

        self.mcp = McpServers(http=True)
        await self.mcp.connect(request.mcp_servers)     # in session_new
        ...
        await self.mcp.close()                          # in session_close, and at the end

    `async with McpServers() as servers` closes the connections at the end of the block.

    Redirects to another server are refused, because that server would get the headers with their secrets.
    """

    def __init__(self, *, http: bool = False, sse: bool = False, connect_deadline: float = 30.0) -> None:
        """Make an empty collection.

        Args:
            http: whether servers may be reached by HTTP.
            sse: whether servers may be reached by HTTP with server-sent events, the older kind.
            connect_deadline: how long a server may take to start and answer, in seconds.

        Raises:
            ImportError: if the package `mcp` isn't installed.
        """
        require("McpServers", "mcp", "mcp")
        self._http = http
        self._sse = sse
        self._deadline = connect_deadline
        self._connections: dict[str, _Connection] = {}
        self._connecting: dict[str, _Connection] = {}

    @property
    def capabilities(self) -> McpCapabilities:
        """What to advertise in `initialize`, as `agent_capabilities.mcp_capabilities`."""
        return McpCapabilities(http=self._http, sse=self._sse)

    async def connect(self, servers: Sequence[McpServer]) -> None:
        """Connect to servers, in parallel. If one fails, none of them stays connected.

        Raises:
            InvalidParams: if two have the same name, or one has a transport that was not advertised.
            InternalError: if one can't be started or doesn't answer in time, or if `close` is called meanwhile. The
                message says which one and why.
        """
        self._check(servers)
        connections = {server.name: _Connection(server) for server in servers}
        self._connecting |= connections
        try:
            futures = {connection.future: name for name, connection in connections.items()}
            if futures:  # `wait` refuses an empty set
                done, _ = await asyncio.wait(futures, timeout=self._deadline, return_when=asyncio.FIRST_EXCEPTION)
                for future in done:
                    future.result()
                if late := [name for future, name in futures.items() if future not in done]:
                    raise InternalError(
                        f"The MCP server {late[0]!r} did not answer within {self._deadline:g} seconds.",
                        {"servers": late},
                    )
            if any(connection.is_ending for connection in connections.values()):
                raise InternalError("The MCP servers were closed while they were being connected.")
        except BaseException:
            await _close_all(connections)
            raise
        finally:
            for name in connections:
                self._connecting.pop(name, None)
        self._connections |= connections

    async def close(self) -> None:
        """Disconnect from all servers, and stop the started ones. May be called twice."""
        connections, self._connections = self._connections, {}
        await _close_all(connections | self._connecting)

    async def tools(self) -> list[tuple[str, Tool]]:
        """Return the tools of all servers, each with the name of its server.

        Raises:
            The exceptions of the `mcp` package, if a server answers with an error or has ended.
        """
        lists = await asyncio.gather(*(_all_tools(connection.session) for connection in self._connections.values()))
        return [(name, tool) for name, tools in zip(self._connections, lists, strict=True) for tool in tools]

    def __getitem__(self, name: str) -> mcp.ClientSession:
        """Return the session with a server, to call its tools. Raises KeyError if there is no such server."""
        return self._connections[name].session

    def __iter__(self) -> Iterator[str]:
        return iter(self._connections)

    def __len__(self) -> int:
        return len(self._connections)

    async def __aenter__(self) -> McpServers:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def _check(self, servers: Sequence[McpServer]) -> None:
        names = {*self._connections, *self._connecting}
        allowed = {"stdio": True, "http": self._http, "sse": self._sse}
        for server in servers:
            if server.name in names:
                raise InvalidParams(f"Two MCP servers have the name {server.name!r}.", {"server": server.name})
            names.add(server.name)
            kind = getattr(server, "type", "stdio")
            if not allowed.get(kind):
                raise InvalidParams(
                    f"This agent can't use the MCP server {server.name!r}, because its transport is {kind}.",
                    {"server": server.name, "type": kind},
                )


class _Connection:
    """One connection, which one task opens and closes."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._end = asyncio.Event()
        self._redirect: str | None = None
        self.future: asyncio.Future[mcp.ClientSession] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold())

    @property
    def is_ending(self) -> bool:
        return self._end.is_set()

    @property
    def session(self) -> mcp.ClientSession:
        return self.future.result()

    def end(self) -> asyncio.Task[None]:
        """Begin to end the connection, and return the task that does it."""
        self._end.set()
        if not self.future.done():
            self._task.cancel()
        return self._task

    async def _hold(self) -> None:
        try:
            await asyncio.to_thread(import_module, "mcp")  # it takes long
            import mcp

            async with AsyncExitStack() as stack:
                read, write = await stack.enter_async_context(_transport(self._server, self._note_redirect))
                session = await stack.enter_async_context(mcp.ClientSession(read, write))
                await session.initialize()
                self.future.set_result(session)
                await self._end.wait()
        except asyncio.CancelledError as error:
            self._report_failure(error, "it was closed")
        except Exception as error:
            where = self._redirect
            refusal = f"it redirects to {where}, which is not followed. Pass that address instead if you trust it."
            self._report_failure(error, reason_of(error) if where is None else refusal)

    async def _note_redirect(self, response: Any) -> None:
        """Note where the last response redirects to: not every version of `mcp` says so."""
        self._redirect = printable(response.headers["location"]) if response.has_redirect_location else None

    def _report_failure(self, error: BaseException, why: str) -> None:
        """Report why the server can't be used. Once it is in use, its session reports errors itself."""
        if not self.future.done():
            name = self._server.name
            reason = InternalError(f"The MCP server {name!r} can't be used: {why}", {"server": name})
            reason.__cause__ = error
            self.future.set_exception(reason)
            self.future.exception()  # marks it as retrieved: `connect` may have been cancelled


async def _close_all(connections: Mapping[str, _Connection]) -> None:
    """End connections, and wait for their end. If the wait is cancelled, they end anyway."""
    if tasks := [connection.end() for connection in connections.values()]:
        await asyncio.wait(tasks)


@asynccontextmanager
async def _transport(server: Any, on_response: Callable[[Any], Awaitable[None]]) -> AsyncGenerator[tuple[Any, Any]]:
    """Open the streams to a server. `on_response` is awaited with each response by HTTP."""
    import mcp
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        if not hasattr(server, "type"):
            parameters = mcp.StdioServerParameters(
                command=server.command,
                args=server.args,
                env={variable.name: variable.value for variable in server.env},
                # By default, `mcp` waits forever after a byte that isn't UTF-8, such as in a log message on stdout.
                encoding_error_handler="replace",
            )
            streams: Any = await stack.enter_async_context(mcp.stdio_client(parameters))
        else:
            headers = {header.name: header.value for header in server.headers}
            if server.type == "sse":
                factory = partial(_http_client, on_response=on_response)
                connection = sse_client(server.url, headers=headers, httpx_client_factory=factory)
                streams = await stack.enter_async_context(connection)
            else:
                client = await stack.enter_async_context(_http_client(headers, on_response=on_response))
                streams = await stack.enter_async_context(streamable_http_client(server.url, http_client=client))
        yield streams[0], streams[1]  # version 1 of `mcp` has a third value for HTTP


def _http_client(
    headers: dict[str, str] | None = None,
    timeout: Any = None,
    auth: Any = None,
    *,
    on_response: Callable[[Any], Awaitable[None]],
) -> Any:
    """Return an HTTP client of the library that the installed version of `mcp` uses.

    It follows no redirects, which would send the headers, with their secrets, to another server. Version 2 of `mcp`
    itself follows those that stay on the same server.
    """
    http = import_module("httpx" if version("mcp").startswith("1.") else "httpx2")
    timeout = timeout or http.Timeout(_HTTP_SECONDS, read=_STREAM_SECONDS)
    hooks = {"response": [on_response]}
    return http.AsyncClient(headers=headers, timeout=timeout, auth=auth, follow_redirects=False, event_hooks=hooks)


async def _all_tools(session: mcp.ClientSession) -> list[Tool]:
    """Return the tools of a server, page by page. A cursor that the server repeats is the end."""
    from mcp.types import PaginatedRequestParams

    listed: Any = await session.list_tools()
    tools: list[Tool] = [*listed.tools]
    cursors: set[str] = set()
    while cursor := getattr(listed, "next_cursor", None) or getattr(listed, "nextCursor", None):
        if cursor in cursors:
            break
        cursors.add(cursor)
        listed = await cast("Any", session).list_tools(params=PaginatedRequestParams(cursor=cursor))
        tools += listed.tools
    return tools
