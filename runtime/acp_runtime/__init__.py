"""The runtime of acp-bindings: models, errors, options and the bases of the generated stubs. No generated code."""

from typing import TYPE_CHECKING

from acp_runtime.errors import (
    AuthenticationRequired as AuthenticationRequired,
    CapabilityError as CapabilityError,
    ConnectionClosed as ConnectionClosed,
    GuardError as GuardError,
    InternalError as InternalError,
    InvalidParams as InvalidParams,
    InvalidRequest as InvalidRequest,
    InvalidResponse as InvalidResponse,
    LoginMethodError as LoginMethodError,
    MessageTooLarge as MessageTooLarge,
    MethodNotFound as MethodNotFound,
    NotInitialized as NotInitialized,
    OversizedMessage as OversizedMessage,
    ParseError as ParseError,
    ProtocolVersionMismatch as ProtocolVersionMismatch,
    RelativePath as RelativePath,
    RemoteError as RemoteError,
    RequestCancelled as RequestCancelled,
    RequestError as RequestError,
    ResourceNotFound as ResourceNotFound,
    UnsupportedProtocolVersion as UnsupportedProtocolVersion,
)
from acp_runtime.models.absent import ABSENT as ABSENT, absent as absent
from acp_runtime.models.model import Model as Model, OpenModel as OpenModel, replace as replace
from acp_runtime.options import InstrumentedMessage as InstrumentedMessage, Options as Options
from acp_runtime.stubs.extensions import (
    ExtNotification as ExtNotification,
    ExtRequest as ExtRequest,
    handles as handles,
)
from acp_runtime.stubs.methods import SchemaSource as SchemaSource
from acp_runtime.stubs.roles import (
    CurrentRequest as CurrentRequest,
    PendingCall as PendingCall,
    ProcessInfo as ProcessInfo,
    Remote as Remote,
    current_request as current_request,
)

if TYPE_CHECKING:
    __version__: str
else:
    __all__ = [name for name, it in vars().items() if name[0] != "_" and type(it).__name__ not in ("bool", "module")]

    def __getattr__(name: str) -> object:
        """Look up the version on first use, because few programs need it."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version

        return version("acp-bindings")
