"""Connects to an agent in the newest version of the protocol that both sides have.

The versions are tried from the newest to the oldest, each on a connection of its own, because the opening request
differs between versions.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from acp_runtime.errors import (
    InvalidParams,
    InvalidRequest,
    InvalidResponse,
    ProtocolVersionMismatch,
    UnsupportedProtocolVersion,
)
from acp_runtime.options import Options
from acp_runtime.transports.transport import Transport
from acp_runtime.versions import find_profiles

# What makes the client from the proxy for the agent, and what opens the connection with that proxy.
Offer: TypeAlias = tuple[Callable[[Any], Any], Callable[[Any], Awaitable[object]]]
# Errors with which agents answer the opening request of a newer version.
_OLDER = (InvalidParams, InvalidRequest, InvalidResponse, ProtocolVersionMismatch, UnsupportedProtocolVersion)


def spawn_agent(
    package: str,
    offers: Mapping[str, Offer | None],
    command: str,
    *args: str,
    cwd: str | Path | None,
    env: Mapping[str, str] | None,
    inherit_env: bool | Collection[str] | None,
    options: Options,
) -> AbstractAsyncContextManager[Any]:
    """Start an agent, afresh for each version that is tried. `offers` are by the names of profiles in `package`."""
    return _connect(
        find_profiles(package, offers),
        lambda profile, client: profile.spawn_agent(
            client, command, *args, cwd=cwd, env=env, inherit_env=inherit_env, options=options
        ),
    )


def connect(
    package: str,
    offers: Mapping[str, Offer | None],
    open_transport: Callable[[], Awaitable[Transport]],
    options: Options,
) -> AbstractAsyncContextManager[Any]:
    """Connect over a transport, a new one for each version that is tried."""

    @asynccontextmanager
    async def connect_profile(profile: Any, client: Any) -> AsyncGenerator[Any]:
        async with profile.connect(client, await open_transport(), options=options) as agent:
            yield agent

    return _connect(find_profiles(package, offers), connect_profile)


@asynccontextmanager
async def _connect(
    offers: list[tuple[Any, Offer]], connect_profile: Callable[[Any, Any], AbstractAsyncContextManager[Any]]
) -> AsyncGenerator[Any]:
    for profile, (client, initialize) in reversed(offers):
        async with connect_profile(profile, client) as agent:
            try:
                await initialize(agent)
            except _OLDER:
                if profile is offers[0][0]:
                    raise
                continue
            yield agent
            return
