"""Workarounds for pydantic before 2.14.2. Delete them, with all references, once pyproject.toml requires 2.14.2."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import VERSION

if TYPE_CHECKING:
    MISSING: Any
else:
    try:
        from pydantic import MISSING
    except ImportError:  # before 2.14
        from pydantic.experimental.missing_sentinel import MISSING

__all__ = ["CAN_DEFER", "LOSES_EXTRA", "MISSING"]

_version = tuple(map(int, re.findall(r"\d+", VERSION)[:3]))

# Before 2.14, pydantic-core can't dump a model in a field if the class of that model is deferred.
CAN_DEFER = _version >= (2, 14)

# Before 2.13, an instance that was built without extra values isn't equal to one that was parsed without any.
LOSES_EXTRA = _version < (2, 13)
