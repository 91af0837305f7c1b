"""The scopes in which a file binds its names."""

from __future__ import annotations

from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, ScopeProvider


class Scopes:
    """The scopes of a file's code."""

    def __init__(self, module: cst.Module) -> None:
        self.module = module
        self._found: Any = MetadataWrapper(module, unsafe_skip_copy=True).resolve(ScopeProvider)

    def of(self, node: cst.CSTNode) -> Any:
        """Return the scope of a piece of code; None if it was not in the file."""
        return self._found.get(node)
