"""Builds the first instance of a class, for which it first makes the function that builds all instances."""

from __future__ import annotations

from typing import Any

from acp_runtime.models.constructors import BUILD, Build, constructor
from acp_runtime.models.generated import is_generated


def build_first_instance(keywords: dict[str, Any], *, self_instance: Any) -> None:
    """Replace itself on the class by the function that builds instances, and call that."""
    cls = self_instance.__class__
    build = constructor(cls) if is_generated(cls) else _constructor_of_subclass(cls)
    # A static method, because models look it up on the instance. On the class, Python would ask the metaclass first.
    type.__setattr__(cls, BUILD, staticmethod(build))
    build(keywords, self_instance=self_instance)


def _constructor_of_subclass(cls: Any) -> Build:
    # Imported on use: many programs have no subclass of a model, and start a millisecond earlier.
    from acp_runtime.models.subclasses import constructor_of_subclass

    return constructor_of_subclass(cls)
