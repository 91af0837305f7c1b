"""Runs code that was written for the official SDK (`agent-client-protocol`) on the runtime of this package.

Import the functions and classes that connect from here instead of from `acp`. Everything else stays: models,
interfaces, helpers, `RequestError`.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING
from warnings import warn

from acp_kit.common.extras import require

require("acp_kit.official", "official", "acp")

if TYPE_CHECKING:
    # Type checkers see the official signatures.
    from acp import connect_to_agent, run_agent, spawn_agent_process, spawn_client_process
    from acp.core import AgentSideConnection, ClientSideConnection
else:
    from acp_kit.official._connecting import connect_to_agent, run_agent, spawn_agent_process, spawn_client_process
    from acp_kit.official._connections import AgentSideConnection, ClientSideConnection

__all__ = [
    "TESTED_RELEASES",
    "AgentSideConnection",
    "ClientSideConnection",
    "connect_to_agent",
    "run_agent",
    "spawn_agent_process",
    "spawn_client_process",
]

TESTED_RELEASES = ("0.11.1", "0.12.1", "1.0.0rc3")
"""The releases of the official SDK whose own tests were run on this package."""

if version("agent-client-protocol") not in TESTED_RELEASES:
    warn(
        f"acp_kit.official is tested with agent-client-protocol {', '.join(TESTED_RELEASES)},"
        f" not with {version('agent-client-protocol')}.",
        RuntimeWarning,
        stacklevel=2,
    )
