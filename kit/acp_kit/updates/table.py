"""What each kind of update of version 1 does, by its tag: the table of `acp_bindings.v1`, and permission requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acp_bindings.v1.updates import UPDATES
from acp_runtime.updates import Changes, Effect

PERMISSION: Final = "session/request_permission"
"""Stands for the tag of the tool call in a permission request, which has none."""

TABLE: Final[Mapping[str, Effect]] = {**UPDATES, PERMISSION: UPDATES["tool_call"]}
"""What each kind of update does, by its tag."""

KEPT_AS: Final[Mapping[str, Changes]] = {
    effect.thing: effect for effect in UPDATES.values() if isinstance(effect, Changes) and effect.model
}
"""The effect whose `model` is the class in which a thing is kept, by the thing: `tool_call`, `compaction`."""


def tag_of(update: object) -> str:
    """Return the tag of an update, or `PERMISSION` for the tool call in a permission request."""
    return getattr(update, "session_update", PERMISSION)
