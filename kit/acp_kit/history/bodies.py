"""Updates as JSON text."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from acp_kit.history.errors import HistoryDamaged

if TYPE_CHECKING:
    from acp_bindings.v1 import SessionUpdate


def dump(update: Any) -> str:
    """Return an update as JSON. Characters are escaped as on the wire, so any text can be stored.

    Raises:
        PydanticSerializationError: if it can't be sent, because it has NaN, Infinity or an object that isn't JSON.
    """
    from acp_runtime import jsonrpc

    return jsonrpc.dump(update).decode()


def check_sendable(update: Any) -> None:
    """Check an update before it is appended.

    Raises:
        PydanticSerializationError: see `dump`.
        OversizedMessage: if it is too large to be sent with the default options.
    """
    from acp_runtime import Options, OversizedMessage

    size = len(dump(update))
    limit = Options.max_message_bytes
    if size > limit:
        raise OversizedMessage("session/update", size, limit)


class BodyReader:
    """Reads updates from JSON.

    Args:
        profile: the profile whose classes the updates have, such as `acp_bindings.v1`.
        history: the history, for error messages.
    """

    def __init__(self, profile: ModuleType, history: str) -> None:
        self._notification: Any = profile.SessionNotification
        self._history = history

    def load(self, body: str) -> SessionUpdate | None:
        """Return an update, or None if it is valid JSON but not an update of the profile.

        Raises:
            HistoryDamaged: if it is not JSON.
        """
        from acp_runtime.jsonrpc import parse, read

        line = f'{{"sessionId":"","update":{body}}}'.encode()
        try:
            return read(self._notification.model_validate_json, line).update  # type: ignore[no-any-return]
        except ValidationError:
            pass
        try:
            parse(line)
        except ValueError as error:
            raise HistoryDamaged(f"{self._history} is damaged: an update in it is not JSON") from error
        return None
