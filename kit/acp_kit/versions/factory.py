"""An agent of version 1 as one of version 2."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, overload

from acp_bindings import v1

if TYPE_CHECKING:
    from acp_bindings import v2_draft as v2
    from acp_kit.versions.agent_connection import Open


@overload
def as_v2(factory: Callable[[v1.RemoteClient], v1.Agent], /) -> Callable[[v2.RemoteClient], v2.Agent]: ...
@overload
def as_v2(*, open: Open) -> Callable[[v2.RemoteClient], v2.Agent]: ...
def as_v2(
    factory: Callable[[v1.RemoteClient], v1.Agent] | None = None, /, *, open: Open | None = None
) -> Callable[[v2.RemoteClient], v2.Agent]:
    """Return a factory of version 2 agents, each of which translates for a version 1 agent.

    For `serve_stdio` of `acp_bindings`: `serve_stdio(v1=MyAgent, v2_draft=as_v2(MyAgent))` serves clients of both
    versions. The guide "Two versions" says what is translated, and what is lost.

    Args:
        factory: makes the agent of version 1, as `v1.serve_stdio` takes it.
        open: connects to an agent of version 1, instead of `factory`. It gets a function that makes the client, and
            returns a context manager that yields the proxy for the agent. For a subprocess:
            `lambda client: v1.spawn_agent(client, "gemini", "--acp")`.
    """
    if factory is not None:
        open = partial(v1.connect_in_process, factory)
    if open is None:
        raise TypeError("Pass an agent, or `open=` a function that connects to one.")
    connect = open

    def make_agent(client: v2.RemoteClient) -> v2.Agent:
        # Imported for clients of version 2 only: it takes a third as long as importing version 1.
        from acp_kit.versions.agent import AgentV2

        return AgentV2(client, connect)

    return make_agent
