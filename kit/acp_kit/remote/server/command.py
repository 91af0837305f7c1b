"""The command `serve`: an agent behind hypercorn, for trying it out."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from importlib import import_module
from typing import Any

from acp_kit.remote.server.admission import LOOPBACK

_KEEP_ALIVE = 15.0  # seconds between pings


def add_serve(parser: ArgumentParser) -> None:
    """Add the arguments of the command, and what runs it."""
    parser.add_argument("agent", type=_agent, metavar="MODULE:CLASS", help="the agent, a subclass of a profile's Agent")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="the port to listen on; 0 for a free one (8000)")
    parser.add_argument("--path", default="/acp", help="the path of the URL (/acp)")
    parser.add_argument(
        "--allow-host",
        dest="hosts",
        action="append",
        default=[],
        metavar="NAME",
        help="a name by which clients reach this server, besides those of this machine itself",
    )
    parser.set_defaults(run=_serve, error=parser.error)


def _serve(options: Namespace) -> int:
    from hypercorn import asyncio as hypercorn_asyncio
    from hypercorn.config import Config

    from acp_kit.remote.server.app import agent_app
    from acp_kit.remote.server.bounds import Bounds

    host = f"[{options.host}]" if ":" in options.host else options.host
    if host not in LOOPBACK and not options.hosts:
        options.error(f"Clients from elsewhere can reach {options.host}: name the hosts to serve with --allow-host.")
    profile, agent = options.agent
    bounds = Bounds()

    async def serve_agent(transport: Any, _: None) -> None:
        await profile.serve(agent, transport)

    config = Config()
    config.bind = [f"{host}:{options.port}"]
    config.websocket_max_message_size = bounds.message_bytes
    config.websocket_ping_interval = _KEEP_ALIVE
    app: Any = agent_app(serve_agent, path=options.path, hosts=[*LOOPBACK, *options.hosts], bounds=bounds)
    run: Any = hypercorn_asyncio  # its types are partly unknown
    asyncio.run(run.serve(app, config))
    return 0


def _agent(argument: str) -> tuple[Any, Any]:
    """Return the profile of an agent's class, and the class."""
    module, colon, name = argument.partition(":")
    if not colon or not module or not name:
        raise ArgumentTypeError("write module:Class")
    sys.path.insert(0, "")
    try:
        agent: Any = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ArgumentTypeError(str(error)) from error
    for base in getattr(agent, "__mro__", ()):
        package, _, role = base.__module__.rpartition(".")
        if package.startswith("acp_bindings.") and role == "agent":
            return import_module(package), agent
    raise ArgumentTypeError(f"{name} is not a class derived from an Agent of acp_bindings")
