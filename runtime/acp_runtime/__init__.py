"""The runtime of acp-bindings: models, errors and the bases of the generated stubs. Hand-written; no generated code."""

from acp_runtime.errors import MethodNotFound, RequestError
from acp_runtime.methods import SchemaSource
from acp_runtime.model import Model

__all__ = ["MethodNotFound", "Model", "RequestError", "SchemaSource"]
