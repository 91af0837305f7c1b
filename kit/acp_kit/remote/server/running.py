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

    It runs on uvicorn, with limits on what uvicorn buffers of a client. When it stops, the connections end immediately.

    Args:
        app: the application.
        options: options of `uvicorn.Config`, such as `host`, `port` and `ssl_certfile`.

    Raises:
        SystemExit: if it can't listen on the port. The reason is logged.
    """
    asyncio.run(serve(app, None, **options))


async def serve(app: Any, listeners: list[socket.socket] | None, **options: Any) -> None:
    """Serve an application until SIGINT or SIGTERM, on these listening sockets if there are any."""
    server = uvicorn.Server(uvicorn_config(app, **options))
    with shutdown_signals(lambda _: setattr(server, "should_exit", True)):
        await server.serve(listeners)


def uvicorn_config(app: Any, **options: Any) -> uvicorn.Config:
    """Return the configuration of uvicorn for an application.

    Clients get a ping every 15 seconds, so that dead ones are noticed. With `ws_per_message_deflate=True`, WebSockets
    are compressed if the client supports it, which takes memory and time. The limit on the size of a message applies
    to the decompressed message.

    Args:
        app: the application.
        options: options of `uvicorn.Config`. They have precedence.
    """
    defaults: dict[str, Any] = {
        "http": HTTP,
        "ws": WebSockets,
        "ws_ping_interval": 15.0,
        "ws_ping_timeout": 60.0,
        "ws_per_message_deflate": False,
        "h11_max_incomplete_event_size": _HEAD_BYTES,
        "timeout_graceful_shutdown": 2,  # seconds; more than `_LAST_SECONDS` of a connection
        "log_level": "warning",
    }
    return uvicorn.Config(app, **{**defaults, **options})
