"""Tells the author of a client in the log that it doesn't pass updates on to its sessions."""

from __future__ import annotations

from logging import getLogger
from typing import Any
from weakref import WeakSet

from acp_bindings.v1 import RemoteAgent
from acp_kit.client.handlers import UpdateHandlers

_checked: WeakSet[type] = WeakSet()
_logger = getLogger(__name__)


def check_delivery(agent: RemoteAgent, *, delivered: bool) -> None:
    """Log a warning if a session has got no updates: maybe the client doesn't pass them on.

    A session calls this when a turn has ended. Only the first call for each class of clients does anything, because
    some turns have no updates.
    """
    client: Any = type(agent.handler)
    if client in _checked:
        return
    _checked.add(client)
    if not delivered and client.session_update is not UpdateHandlers.session_update:
        _logger.warning(
            "A turn has ended without an update. If the agent has sent some, %s.session_update doesn't call "
            "`deliver_update`, so the turns and the states of sessions stay empty.",
            client.__qualname__,
        )
