"""Which login methods a client may pass to a login: those that the agent advertises, except those of a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_runtime.errors import LoginMethodError
from acp_runtime.escaping import printable
from acp_runtime.models.json_values import as_array, as_object
from acp_runtime.stubs.methods import AnyMethod

# The calls that log in, each with the property of a login method that has its id.
LOGINS = {"authenticate": "id", "auth/login": "methodId"}


def check_login(method: AnyMethod, params: Any, peer: Mapping[str, Any]) -> LoginMethodError | None:
    """Return the error for a login with a method that can't be passed to it; None if it can.

    Args:
        method: one of `LOGINS`.
        params: its params.
        peer: the agent's response to `initialize`, as plain JSON.
    """
    id: str = params.method_id
    logins = [as_object(login) or {} for login in as_array(peer.get("authMethods")) or ()]
    types = {login.get(LOGINS[method.wire]): login.get("type") for login in logins}
    if id not in types:
        offered = printable(", ".join(map(repr, types))) or "none"
        return LoginMethodError(f"The agent has no login method {id!r} for {method.wire}. It has: {offered}.")
    if types[id] == "terminal":
        advice = "Run the agent's command with its args and env instead, as acp_kit.client.log_in_from_terminal does"
        return LoginMethodError(f"The login method {id!r} is for a terminal, not for {method.wire}. {advice}.")
    return None
