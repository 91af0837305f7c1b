"""Which version of the protocol a connection speaks: its profile's, which `initialize` agrees on (rule 26)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from acp_runtime.errors import ProtocolVersionMismatch, UnsupportedProtocolVersion
from acp_runtime.jsonrpc.frames import params_adapter
from acp_runtime.jsonrpc.messages import IncomingRequest, RequestId
from acp_runtime.models.json_values import as_object
from acp_runtime.options import Options
from acp_runtime.stubs.methods import Profile, Request

_HIGHEST_VERSION = 2**16 - 1


class Negotiation:
    """Answers a request for another version, and refuses an answer that has another version.

    Args:
        profile: has the version that this side speaks.
        options: with `guards` off, versions are not checked.
    """

    def __init__(self, profile: Profile, options: Options) -> None:
        self._profile = profile
        self._is_checking = options.guards != "off"

    def refuse(self, version: int) -> UnsupportedProtocolVersion | None:
        """Return the error for a client that asks for another version; None if this side answers with its own."""
        own = self._profile.protocol_version
        if not self._is_checking or not self._profile.refuses_lower or version >= own:
            return None
        return UnsupportedProtocolVersion(data={"requested": version, "supported": [own]})

    def read_another_version(
        self, method: Request[Any, Any], id: RequestId, params: Any
    ) -> IncomingRequest | UnsupportedProtocolVersion | None:
        """Read the version in an opening request with invalid params, which may be for another version of the protocol.

        Returns:
            The request reduced to its version, the error that answers it, or None for this version or an invalid one.
        """
        version, own = version_in(as_object(params) or {}, self._profile.version), self._profile.protocol_version
        if not self._is_checking or version is None or version == own:
            return None
        try:
            known = params_adapter(method).validate_json(to_json({self._profile.version: version}))
        except ValidationError:
            return UnsupportedProtocolVersion(data={"requested": version, "supported": [own]})
        return self.refuse(version) or IncomingRequest(id, method.wire, known)

    def own_result(self, result: Any) -> Any:
        """Return the handler's result with this profile's version, the only one that this side supports (rule 26)."""
        attribute, own = self._profile.version_attribute, self._profile.protocol_version
        if self._is_checking and getattr(result, attribute) != own:
            return result.model_copy(update={attribute: own})
        return result

    def check_version(self, result: Any) -> None:
        """Check the version in the peer's result, given as plain JSON, before anything else in it.

        Raises:
            ProtocolVersionMismatch: if it is not this profile's.
        """
        version = version_in(as_object(result) or {}, self._profile.version)
        if self._is_checking and version is not None and version != self._profile.protocol_version:
            raise ProtocolVersionMismatch(version, self._profile.protocol_version)


def version_in(message: Mapping[str, Any], name: str) -> int | None:
    """Return the version in a message that opens the connection, given its property; None if it is invalid."""
    value: Any = message.get(name)
    # `2.0` is an integer in JSON Schema.
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        return None
    return int(value) if 0 <= value <= _HIGHEST_VERSION else None
