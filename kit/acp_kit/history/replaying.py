"""Sends the history of a session to a client, for `session/load`."""

from __future__ import annotations

from contextlib import aclosing
from logging import WARNING, getLogger
from typing import TYPE_CHECKING, Any

from acp_kit.updates.entries import key_of
from acp_kit.updates.merging import has_ended
from acp_runtime import CapabilityError, OversizedMessage, RelativePath
from acp_runtime.logs import log

if TYPE_CHECKING:
    from acp_kit.history.store import HistoryStore, SendsUpdates


_logger = getLogger(__name__)


async def replay(store: HistoryStore, session_id: str, client: SendsUpdates) -> None:
    """Send the history of a session to a client: merged messages and finished tool calls, in order.

    Each update is read when the previous one was sent, so a long history takes no more memory than a short one. A tool
    call or a compaction that never ended is sent as failed. Updates that need a capability that the client did not
    advertise, such as compactions, are left out. Updates that are larger than `Options.max_message_bytes` or have a
    relative path are left out with a warning.

    For example:

        async def session_load(self, request: LoadSessionRequest) -> LoadSessionResponse:
            await replay(self.history, request.session_id, self.client)
            return LoadSessionResponse()

    Raises:
        UnknownSession: if there is no such session.
    """
    async with aclosing(store.read(session_id)) as updates:
        async for update in updates:
            try:
                await client.session_update(session_id=session_id, update=_as_ended(update))
            except CapabilityError:
                continue
            except (OversizedMessage, RelativePath) as error:
                log(_logger, WARNING, "An update of the history was left out: %s", error)


def _as_ended(update: Any) -> Any:
    if key_of(update) is None or has_ended(update):
        return update
    return update.model_copy(update={"status": "failed"})
