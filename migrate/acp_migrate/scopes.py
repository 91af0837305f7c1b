"""The scopes in which a file binds its names."""

from __future__ import annotations

from typing import Any

import libcst as cst
from libcst.metadata import ExpressionContextProvider, ScopeProvider


class Scopes(ScopeProvider):
    """The scopes of a file's code. With a `MetadataWrapper`, libcst would visit the file twice more to find them."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__()
        self.module = module
        self._contexts: Any = ExpressionContextProvider()
        self._contexts.visit_Module(module)
        self.visit_Module(module)

    def get_metadata(self, key: Any, node: cst.CSTNode, default: Any = None) -> Any:
        """Return whether a name is set or used, which finding the scopes asks."""
        return self._contexts.get_metadata(key, node, default)

    def of(self, node: cst.CSTNode) -> Any:
        """Return the scope of a piece of code; None if it was not in the file."""
        found: Any = super()
        return found.get_metadata(Scopes, node, None)
