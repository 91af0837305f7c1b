"""Which login methods may be passed to a login: those that the agent advertises, except for an excluded type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_runtime.errors import LoginMethodError
from acp_runtime.escaping import printable
from acp_runtime.models.json_values import as_array, as_object


def check_login(
    login: tuple[str, str, str, str], wire: str, params: Any, peer: Mapping[str, Any]
) -> LoginMethodError | None:
    """Return the error for a login method that may not be passed; None if it may.

    Args:
        login: the fact about the method that is to be called, see `Method`.
        wire: the method.
        params: its params.
        peer: the agent's response to `initialize`, as plain JSON.
    """
    attribute, methods, key, excluded = login
    id: str = getattr(params, attribute)
    offered = [as_object(method) or {} for method in as_array(peer.get(methods)) or ()]
    types = {method.get(key): method.get("type") for method in offered}
    if id not in types:
        ids = printable(", ".join(map(repr, types)))
        return LoginMethodError(f"The agent has no login method {id!r} for {wire}. It has: {ids}.")
    if types[id] != excluded:
        return None
    advice = "Run the agent's command with its args and env instead, as acp_kit.client.log_in_from_terminal does"
    return LoginMethodError(f"The login method {id!r} is for a {excluded}, not for {wire}. {advice}.")
