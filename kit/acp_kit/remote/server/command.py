"""The command `serve`, which serves an agent on uvicorn."""

from __future__ import annotations

import asyncio
import logging
import sys
from argparse import ArgumentTypeError, Namespace
from contextlib import suppress
from hmac import compare_digest
from importlib import import_module
from inspect import isroutine
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, get_type_hints

from acp_kit.common.command_line import CommandParser, explain
from acp_kit.remote.arguments import TOKEN_HELP, matching, read_secret, set_run

if TYPE_CHECKING:
    from acp_kit.remote.server.requests import HTTPRequest

_LEVELS = ("critical", "error", "warning", "info", "debug")


def add_serve(parser: CommandParser) -> None:
    """Add the arguments of the command, and set `run`."""
    parser.add_argument(
        "agent",
        type=_agent,
        metavar="MODULE:AGENT",
        help="the agent: a subclass of a profile's Agent, or a function annotated to return one",
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, default=8000, help="the port to listen on; 0 for a free one (default: 8000)"
    )
    path = matching(r"/[^\s?#{}]*", "a path that begins with /, such as /acp")
    parser.add_argument("--path", type=path, default="/acp", help="the path of the URL (default: /acp)")
    parser.add_argument(
        "--allow-host",
        dest="hosts",
        action="append",
        default=[],
        metavar="NAME",
        help="a name that clients use for this server, besides localhost",
    )
    parser.add_argument("--token-env", dest="token", type=read_secret, metavar="VARIABLE", help=TOKEN_HELP)
    parser.add_argument(
        "--anonymous", action="store_true", help="serve everybody who can reach this machine, without a token"
    )
    parser.add_argument("--log-level", choices=_LEVELS, default="info", help="what to log to stderr (default: info)")
    set_run(parser, _serve)


def _serve(options: Namespace) -> int:
    from acp_kit.remote.server.admission import LOOPBACK
    from acp_kit.remote.server.app import agent_app
    from acp_kit.remote.server.running import check_address, listen, serve

    logging.basicConfig(level=options.log_level.upper(), format="%(levelname)s %(name)s: %(message)s")
    host = f"[{options.host}]" if ":" in options.host else options.host
    if host not in LOOPBACK and not options.hosts:
        options.error(f"Other machines can reach {options.host}: name the hosts to serve with --allow-host.")
    profile, agent = options.agent

    async def serve_agent(transport: Any, _: None) -> None:
        await profile.serve(agent, transport)

    try:
        app = agent_app(
            serve_agent,
            path=options.path,
            hosts=[*LOOPBACK, *options.hosts],
            authenticate=_require_token(options.token),
            anonymous=options.anonymous,
        )
    except ValueError as error:
        code: int = options.error(str(error))
        return code
    try:
        check_address(app, options.host)
    except ValueError:
        options.error(f"Other machines can reach {options.host}: pass --token-env, or --anonymous to serve everybody.")
    try:
        listener = listen(options.host, options.port, app.bounds.unread_seconds)
    except (OSError, OverflowError) as error:
        reason = explain(error) if isinstance(error, OSError) else error
        sys.stderr.write(f"acp-bindings serve: can't listen on {options.host} port {options.port}: {reason}\n")
        return 2
    sys.stderr.write(f"acp-bindings: serves http://{host}:{listener.getsockname()[1]}{options.path}\n")
    with listener, suppress(KeyboardInterrupt, asyncio.CancelledError):  # a second Ctrl-C
        asyncio.run(serve(app, [listener]))
    return 0


def _require_token(token: str | None) -> Any:
    """Return an `authenticate` that refuses requests without the token; None if there is no token."""
    from acp_kit.remote.server.requests import Refused

    def authenticate(request: HTTPRequest) -> None:
        scheme, _, given = request.header("authorization").partition(" ")
        if scheme.lower() != "bearer" or not compare_digest(given.strip().encode(), expected):
            headers = {"WWW-Authenticate": "Bearer"}
            raise Refused(401, "Send the token of this server: Authorization: Bearer TOKEN.", headers=headers)

    expected = (token or "").encode()
    return authenticate if token else None


def _agent(argument: str) -> tuple[Any, Any]:
    """Return the profile of an agent, and its class or the function that makes it."""
    module, colon, name = argument.partition(":")
    if not colon or not module or not name:
        raise ArgumentTypeError("write module:Class")
    sys.path.insert(0, "")
    try:
        factory: Any = getattr(import_module(module), name)
        agent = get_type_hints(factory).get("return") if isroutine(factory) else factory
    except Exception as error:
        raise ArgumentTypeError(_reason(error)) from error
    for base in getattr(agent, "__mro__", ()):
        package, _, role = base.__module__.rpartition(".")
        if package.startswith("acp_bindings.") and role == "agent":
            return import_module(package), factory
    raise ArgumentTypeError(f"{name} is not a class derived from an Agent of acp_bindings, nor annotated to return one")


def _reason(error: Exception) -> str:
    """Return an exception as one line, with the line of the module that raised it."""
    lines = [frame for frame in extract_tb(error.__traceback__) if frame.name == "<module>"]
    where = f"{lines[-1].filename}:{lines[-1].lineno}: " if lines else ""
    return f"{where}{type(error).__name__}: {' '.join(str(error).split())}"
