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
from acp_runtime.models.absent import ABSENT, absent
from acp_runtime.models.model import Model, OpenModel
from acp_runtime.options import Options
from acp_runtime.stubs.methods import SchemaSource

__all__ = [
    "ABSENT",
    "AuthenticationRequired",
    "CapabilityError",
    "ConnectionClosed",
    "ExtNotification",
    "ExtRequest",
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
    "absent",
    "handles",
]

if TYPE_CHECKING:
    from acp_runtime.stubs.extensions import ExtNotification, ExtRequest, handles

    __version__: str
else:

    def __getattr__(name: str) -> object:
        """Load extension methods and the version on first use, because few programs need them."""
        if name in ("ExtNotification", "ExtRequest", "handles"):
            from acp_runtime.stubs import extensions

            return getattr(extensions, name)
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version

        return version("acp-bindings")
