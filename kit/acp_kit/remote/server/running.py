"""Runs an application on uvicorn."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any

import uvicorn

from acp_kit.remote.server.admission import is_loopback
from acp_kit.remote.server.app import SERVED_APPS, AgentApp
from acp_kit.remote.server.bounds import Bounds
from acp_kit.remote.server.requests import ASGIApp, Receive, Scope, Send
from acp_runtime.transports import shutdown_signals

_HEAD_BYTES = 16 * 1024
_MORE_BYTES = 64 * 1024  # more than a message may have, so that the application closes the WebSocket, with a code


def run(app: ASGIApp, *, host: str = "127.0.0.1", port: int = 8000, **options: Any) -> None:
    """Serve an application that `agent_app` made, or one that contains it, until SIGINT or SIGTERM.

    It runs on uvicorn. When it stops, the connections end immediately. Threads that a handler has started are waited
    for.

    Args:
        app: the application.
        host: the address to listen on. Another one than loopback needs an application with `authenticate` or
            `anonymous=True`.
        port: the port.
        options: other options of `uvicorn.Config`, such as `ssl_certfile`. With `uds` or `fd`, `host` and `port` don't
            matter. For an application that contains one with larger messages than by default, pass `ws_max_size`.

    Raises:
        ValueError: if other machines can reach an application that doesn't authenticate them.
        OSError: if it can't listen on the port.
    """
    if options.get("uds") is not None or options.get("fd") is not None:
        asyncio.run(serve(app, None, **options))
        return
    if isinstance(app, AgentApp):
        check_address(app, host)
    with listen(host, port, bounds_of(app).unread_seconds) as listener:
        asyncio.run(serve(app, [listener], **options))


def check_address(app: AgentApp, host: str) -> None:
    """Check that an application may be served at an address.

    Raises:
        ValueError: if other machines can reach it, and it doesn't authenticate them.
    """
    if not app.serves_everybody and not is_loopback(host):
        raise ValueError(f"Other machines can reach {host}: pass `authenticate`, or `anonymous=True`, to agent_app.")


def listen(host: str, port: int, unread_seconds: float) -> socket.socket:
    """Return a socket that listens. On Linux, the system ends a connection whose client reads nothing for some seconds.

    Raises:
        OSError: if that isn't possible.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(unread_seconds * 1000))
    return listener


async def serve(app: ASGIApp, listeners: list[socket.socket] | None, **options: Any) -> None:
    """Serve an application until SIGINT, SIGTERM or cancellation, on these listening sockets if there are any.

    Connections are ended before uvicorn stops, because it doesn't tell an application when it does.
    """
    running = _Running(app)
    stopped = asyncio.Event()
    server = uvicorn.Server(uvicorn_config(running, **{"ws_max_size": _max_frame_bytes(app), **options}))
    for listener in listeners or []:
        logging.getLogger("uvicorn.error").info("Listening on %s", listener.getsockname())

    def stop(_: object) -> None:
        server.force_exit = stopped.is_set()  # at the second signal
        stopped.set()

    serving = asyncio.create_task(server.serve(listeners))
    await asyncio.sleep(0)  # uvicorn has set its handlers of signals; those below replace them
    with shutdown_signals(stop):
        waiting = asyncio.create_task(stopped.wait())
        try:
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            await running.close()
            server.should_exit = True
            await serving


def uvicorn_config(app: ASGIApp, **options: Any) -> uvicorn.Config:
    """Return the configuration of uvicorn for an application.

    Clients get a ping every 15 seconds. With `ws_per_message_deflate=True`, WebSockets are compressed if the client
    supports it, which takes memory and time.

    Args:
        app: the application. Call `close()` of an `AgentApp` before the server stops.
        options: options of `uvicorn.Config`. They have precedence.
    """
    logging.getLogger("uvicorn.error").addFilter(_is_not_debug)
    defaults: dict[str, Any] = {
        "http": "h11",
        "ws": "websockets-sansio",
        "ws_max_size": _max_frame_bytes(app),
        "ws_ping_interval": 15.0,
        "ws_ping_timeout": None,  # the pong may be behind messages that the agent hasn't received yet
        "ws_per_message_deflate": False,
        "h11_max_incomplete_event_size": _HEAD_BYTES,
        "timeout_graceful_shutdown": 2,  # seconds
        "log_level": "warning",
    }
    return uvicorn.Config(app, **{**defaults, **options})


class _Running:
    """Passes requests on to an application, and notes which applications of `agent_app` they reach."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._served = set[AgentApp]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[SERVED_APPS] = self._served
        await self._app(scope, receive, send)

    async def close(self) -> None:
        await asyncio.gather(*(app.close() for app in self._served))


def bounds_of(app: ASGIApp) -> Bounds:
    """Return the limits of an application, or the default ones if it is not one of `agent_app`."""
    return app.bounds if isinstance(app, AgentApp) else Bounds()


def _max_frame_bytes(app: ASGIApp) -> int:
    return bounds_of(app).message_bytes + _MORE_BYTES


def _is_not_debug(record: logging.LogRecord) -> bool:
    """Whether to log a record of uvicorn. At DEBUG, websockets logs headers such as `Authorization` there."""
    return record.levelno != logging.DEBUG
