"""Runs an application on uvicorn."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn

from acp_kit.remote.server.uvicorn_protocols import HTTP, WebSockets
from acp_runtime.transports import shutdown_signals

_HEAD_BYTES = 16 * 1024


def run(app: Any, **options: Any) -> None:
    """Serve an application that `agent_app` made, or one that contains it, until SIGINT or SIGTERM.

    It runs on uvicorn, with limits on what a client can make uvicorn itself hold, and stops at once: the connections of
    agents end then.

    Args:
        app: The application.
        options: Options of `uvicorn.Config`, such as `host`, `port` and `ssl_certfile`.

    Raises:
        SystemExit: The port can't be listened on. The reason is logged.
    """
    asyncio.run(serve(app, None, **options))


async def serve(app: Any, listeners: list[socket.socket] | None, **options: Any) -> None:
    """Serve an application until SIGINT or SIGTERM, on sockets that listen if there are any."""
    server = uvicorn.Server(uvicorn_config(app, **options))
    with shutdown_signals(lambda _: setattr(server, "should_exit", True)):
        await server.serve(listeners)


def uvicorn_config(app: Any, **options: Any) -> uvicorn.Config:
    """Return the configuration of uvicorn for an application.

    Dead clients are noticed by pings, every 15 seconds. With `ws_per_message_deflate=True`, WebSockets are compressed
    if the client wants that, which takes memory and time. The limit on a message's size holds for what it is inflated
    to.

    Args:
        app: The application.
        options: Options of `uvicorn.Config`, in place of these.
    """
    ours: dict[str, Any] = {
        "http": HTTP,
        "ws": WebSockets,
        "ws_ping_interval": 15.0,
        "ws_ping_timeout": 60.0,
        "ws_per_message_deflate": False,
        "h11_max_incomplete_event_size": _HEAD_BYTES,
        "timeout_graceful_shutdown": 2,  # seconds; more than the last ones of a connection
        "log_level": "warning",
    }
    return uvicorn.Config(app, **{**ours, **options})
