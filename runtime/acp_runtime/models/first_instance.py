"""How the first instance of a class is built: what builds the others is made for it."""

from __future__ import annotations

from typing import Any

from acp_runtime.models.constructors import BUILD, Build, constructor
from acp_runtime.models.generated import is_generated


def build_first_instance(keywords: dict[str, Any], *, self_instance: Any) -> None:
    """Build the first instance of a class: make what builds the others, and leave it to that."""
    cls = self_instance.__class__
    build = constructor(cls) if is_generated(cls) else _constructor_of_subclass(cls)
    # Looked up on the instance, which is faster: a class asks its metaclass first.
    type.__setattr__(cls, BUILD, staticmethod(build))
    build(keywords, self_instance=self_instance)


def _constructor_of_subclass(cls: Any) -> Build:
    # Loaded on use: many programs have no subclass of a model, and start a millisecond earlier.
    from acp_runtime.models.subclasses import constructor_of_subclass

    return constructor_of_subclass(cls)
