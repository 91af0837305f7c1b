"""An agent of version 1 as one of version 2."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import overload

from acp_bindings import v1, v2_draft as v2
from acp_kit.versions.agent import AgentV2
from acp_kit.versions.agent_connection import Open


@overload
def as_v2(factory: Callable[[v1.RemoteClient], v1.Agent], /) -> Callable[[v2.RemoteClient], v2.Agent]: ...
@overload
def as_v2(*, open: Open) -> Callable[[v2.RemoteClient], v2.Agent]: ...
def as_v2(
    factory: Callable[[v1.RemoteClient], v1.Agent] | None = None, /, *, open: Open | None = None
) -> Callable[[v2.RemoteClient], v2.Agent]:
    """Return a factory of agents of version 2, each of which has an agent of version 1 behind it.

    Args:
        factory: makes the agent of version 1, as `acp_bindings.v1.serve_stdio` takes it.
        open: connects to an agent of version 1 instead, given a function that makes the client. For a subprocess:
            `lambda client: v1.spawn_agent(client, "gemini", "--acp")`.
    """
    if factory is not None:
        open = partial(v1.connect_in_process, factory)
    if open is None:
        raise TypeError("Pass an agent, or `open=` a function that connects to one.")
    connect = open
    return lambda client: AgentV2(client, connect)
