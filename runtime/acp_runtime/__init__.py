"""The runtime of acp-bindings: models, errors, options and the bases of the generated stubs. No generated code."""

from typing import TYPE_CHECKING

from acp_runtime.errors import (
    AuthenticationRequired,
    CapabilityError,
    ConnectionClosed,
    GuardError,
    InternalError,
    InvalidParams,
    InvalidRequest,
    InvalidResponse,
    MessageTooLarge,
    MethodNotFound,
    NotInitialized,
    ParseError,
    ProtocolVersionMismatch,
    RelativePath,
    RemoteError,
    RequestCancelled,
    RequestError,
    ResourceNotFound,
    UnsupportedProtocolVersion,
)
from acp_runtime.models.absent import ABSENT
from acp_runtime.models.model import Model, OpenModel
from acp_runtime.options import Options
from acp_runtime.stubs.methods import SchemaSource

__all__ = [
    "ABSENT",
    "AuthenticationRequired",
    "CapabilityError",
    "ConnectionClosed",
    "GuardError",
    "InternalError",
    "InvalidParams",
    "InvalidRequest",
    "InvalidResponse",
    "MessageTooLarge",
    "MethodNotFound",
    "Model",
    "NotInitialized",
    "OpenModel",
    "Options",
    "ParseError",
    "ProtocolVersionMismatch",
    "RelativePath",
    "RemoteError",
    "RequestCancelled",
    "RequestError",
    "ResourceNotFound",
    "SchemaSource",
    "UnsupportedProtocolVersion",
    "__version__",
]

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """Look up the version on first use, because that takes longer than the import."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version

        return version("acp-bindings")
