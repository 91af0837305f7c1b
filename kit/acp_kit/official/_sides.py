"""The two sides of a connection, with the methods of the generated tables and those of the installed official SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp.meta import AGENT_METHODS, CLIENT_METHODS

from acp_bindings.v1_unstable import connecting
from acp_runtime.plain_json import plain_sides


def _missing(official: Mapping[str, str], *tables: Mapping[str, Any]) -> set[str]:
    """Return the official methods that no table has, and `mcp/message`, which is a notification as well."""
    return {wire for wire in official.values() if wire == "mcp/message" or all(wire not in table for table in tables)}


AGENT_SIDE, CLIENT_SIDE = plain_sides(
    connecting.AGENT_SIDE,
    connecting.CLIENT_SIDE,
    _missing(AGENT_METHODS, connecting.AGENT_SIDE.requests, connecting.AGENT_SIDE.notifications),
    _missing(CLIENT_METHODS, connecting.CLIENT_SIDE.requests, connecting.CLIENT_SIDE.notifications),
)
