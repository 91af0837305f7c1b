"""The runtime of acp-bindings: models, errors, options and the bases of the generated stubs. No generated code."""

from acp_runtime.absent import ABSENT
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
    RequestCancelled,
    RequestError,
    ResourceNotFound,
    UnsupportedProtocolVersion,
)
from acp_runtime.methods import SchemaSource
from acp_runtime.model import Model, OpenModel
from acp_runtime.options import Options

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
    "RequestCancelled",
    "RequestError",
    "ResourceNotFound",
    "SchemaSource",
    "UnsupportedProtocolVersion",
]
