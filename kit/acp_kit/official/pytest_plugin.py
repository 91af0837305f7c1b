"""A pytest plugin that tries a whole suite, unchanged: `pytest -p acp_kit.official.pytest_plugin`.

For that run, the connections of this package stand in the modules of the official SDK. Those over HTTP and WebSockets,
and the low-level `acp.connection.Connection`, stay the official ones. The summary says how many there were of each.
"""

from __future__ import annotations

import asyncio
from functools import wraps
from importlib import import_module
from typing import Any

import acp.connection
import acp.core
import pytest

from acp_kit.official import _connecting, _connections

_MODULES = ("acp", "acp.core", "acp.stdio", "acp.agent", "acp.agent.connection", "acp.client", "acp.client.connection")
_counts = {"ours": 0, "official": 0}


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Put the connections of this package in place of the official ones, before anything imports those."""
    _count(_connections.Connection, "connected", "ours")
    _count(acp.connection.Connection, "__init__", "official")
    replacements = {
        "AgentSideConnection": _class(_connections.AgentSideConnection, acp.core.AgentSideConnection),
        "ClientSideConnection": _class(_connections.ClientSideConnection, acp.core.ClientSideConnection),
        "run_agent": _function(_connecting.run_agent, acp.core.run_agent),
        "connect_to_agent": _function(_connecting.connect_to_agent, acp.core.connect_to_agent),
        "spawn_agent_process": _connecting.spawn_agent_process,
        "spawn_client_process": _connecting.spawn_client_process,
    }
    for module in map(import_module, _MODULES):
        for name in replacements.keys() & vars(module).keys():
            setattr(module, name, replacements[name])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many connections there were."""
    terminalreporter.write_line(f"acp_kit.official: {_counts['ours']} connections, official: {_counts['official']}")


def _count(owner: Any, name: str, kind: str) -> None:
    function = getattr(owner, name)

    @wraps(function)
    def counting(*args: Any, **keywords: Any) -> Any:
        _counts[kind] += 1
        return function(*args, **keywords)

    setattr(owner, name, counting)


def _class(ours: Any, official: Any) -> Any:
    """Return a class that makes one of our connections from streams, and an official one from anything else."""

    def new(cls: Any, to_handler: Any, input_stream: Any, *args: Any, **keywords: Any) -> Any:
        if isinstance(input_stream, asyncio.StreamWriter):
            return object.__new__(cls)
        return official(to_handler, input_stream, *args, **keywords)

    members = {"__new__": new, "__doc__": official.__doc__, "__module__": official.__module__}
    if hasattr(official, "attach"):
        members["attach"] = official.attach
    return type(ours.__name__, (ours,), members)


def _function(ours: Any, official: Any) -> Any:
    """Return a function that connects by ours over streams and stdio, and by the official one otherwise."""

    @wraps(official)
    def connect(handler: Any, input_stream: Any = None, *args: Any, **keywords: Any) -> Any:
        is_ours = input_stream is None or isinstance(input_stream, asyncio.StreamWriter)
        return (ours if is_ours else official)(handler, input_stream, *args, **keywords)

    return connect
