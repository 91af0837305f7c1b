"""The connection to the agent of version 1."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from types import MethodType
from typing import Any, TypeAlias

from acp_bindings import v1, v2_draft as v2
from acp_runtime import (
    CapabilityError,
    ConnectionClosed,
    InternalError,
    InvalidParams,
    InvalidResponse,
    LoginMethodError,
    MethodNotFound,
    ProtocolVersionMismatch,
    Remote,
    RemoteError,
)

_logger = logging.getLogger(__name__)

Open: TypeAlias = Callable[[Callable[[v1.RemoteAgent], v1.Client]], AbstractAsyncContextManager[v1.RemoteAgent]]
"""Connects to an agent, given a function that makes the client from the proxy for the agent."""


class AgentConnection:
    """Connects to the agent on first use, until the connection to the client ends.

    Args:
        client: the proxy for the client.
        open: connects to the agent.
        make_client: makes the handler for what the agent sends.
    """

    def __init__(self, client: Remote, open: Open, make_client: Callable[[v1.RemoteAgent], v1.Client]) -> None:
        self._client = client
        self._open = open
        self._make_client = make_client
        self._opened: asyncio.Future[v1.RemoteAgent] | None = None

    async def agent(self) -> v1.RemoteAgent:
        """Return the proxy for the agent.

        Raises:
            InternalError: if there is none, because its command can't be started, for example.
        """
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._client.start_task(self._run(self._opened))
        return await asyncio.shield(self._opened)

    @asynccontextmanager
    async def calling(self) -> AsyncGenerator[v1.RemoteAgent]:
        """Yield the proxy for the agent. An error of it is the error of the request that is handled."""
        agent = await self.agent()
        with passing_errors_on():
            yield agent

    async def _run(self, opened: asyncio.Future[v1.RemoteAgent]) -> None:
        try:
            async with self._open(self._make_client) as agent:
                opened.set_result(agent)
                await asyncio.Event().wait()
        except Exception as error:
            if opened.done():
                raise
            _logger.error("Connecting to the agent has failed: %s", error)
            failed = InternalError("Connecting to the agent has failed")
            failed.__cause__ = error
            opened.set_exception(failed)


@contextmanager
def passing_errors_on() -> Generator[None]:
    """Make the error of a call in the block the error of the request that is handled."""
    try:
        yield
    except RemoteError as error:
        raise error.as_own_error() from error
    except CapabilityError as error:
        raise MethodNotFound(error.method) from error
    except LoginMethodError as error:
        raise InvalidParams(str(error)) from error
    except (InvalidResponse, ProtocolVersionMismatch) as error:
        raise InternalError(str(error)) from error
    except ConnectionClosed as error:
        exit_code = "" if error.exit_code is None else f" Exit code: {error.exit_code}."
        raise InternalError(f"The other connection has ended: {error.reason}{exit_code}") from error


def leave_out(handler: v1.Client | v2.Agent, base: type[v1.Client | v2.Agent], *methods: str) -> None:
    """Let the base class handle methods that the other peer doesn't have: they are neither advertised nor called."""
    for name in methods:
        setattr(handler, name, MethodType(getattr(base, name), handler))


class PassesExtensions:
    """Passes extension methods on to the peer of the other connection."""

    async def other_peer(self) -> Remote:
        """Return the proxy for it."""
        raise NotImplementedError

    async def ext_request(self, method: str, params: Any) -> Any:
        """Pass on a request."""
        peer = await self.other_peer()
        with passing_errors_on():
            return await peer.ext_request(method, params)

    async def ext_notification(self, method: str, params: Any) -> None:
        """Pass on a notification."""
        await (await self.other_peer()).ext_notification(method, params)
