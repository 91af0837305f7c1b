"""Deprecated location of `UNSET`, now `acp_runtime.ABSENT`. Will be removed in the next minor release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from warnings import warn

from acp_runtime.models.absent import ABSENT

if TYPE_CHECKING:
    UNSET: Any
else:

    def __getattr__(name: str) -> Any:
        """Return `ABSENT` under its former name."""
        if name != "UNSET":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        warn("acp_runtime.roles.UNSET is deprecated; use acp_runtime.ABSENT", DeprecationWarning, stacklevel=2)
        return ABSENT
