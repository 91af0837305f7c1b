"""Which classes are generated, and which fields of a class come from the schema."""

from __future__ import annotations

import sys
from collections.abc import Container
from typing import Any

GENERATED = "_acp_generated"


def is_generated_module(name: Any) -> bool:
    """Return whether a module is generated, which it states by `__lazy_fields__ = True`."""
    return bool(getattr(sys.modules.get(name), "__lazy_fields__", False))


def is_generated(cls: type) -> bool:
    """Return whether a class is generated. A user's subclass of a generated class is not."""
    return GENERATED in cls.__dict__


def is_generated_field(cls: type, name: str) -> bool:
    """Return whether a field comes from a generated class and isn't overridden in a user's subclass."""
    return is_generated(next((each for each in cls.__mro__ if name in _annotated_names(each)), object))


def _annotated_names(cls: type) -> Container[str]:
    if sys.version_info >= (3, 14):
        from annotationlib import Format, get_annotations

        return get_annotations(cls, format=Format.FORWARDREF)
    names: Container[str] = vars(cls).get("__annotations__", ())
    return names
