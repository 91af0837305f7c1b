"""What the kinds of updates of a session do to its state, as the generated tables say it.

A table has an effect for each kind, by its tag. It names the fields of the update's model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Role: TypeAlias = Literal["user", "agent", "thought"]


@dataclass(frozen=True, slots=True)
class Says:
    """It is a message, or a part of one.

    Attributes:
        role: who says it; `thought` for a thought of the agent.
        id: the field with the message's id.
        appends: the field that is appended to the content of the message; empty if the update has the message itself.
        null: what null does to a field of the message. None if the update replaces the message; otherwise, the fields
            that it lacks stay as they are.
        patches_meta: whether each key of `meta` replaces that key alone, or clears it with null.
    """

    role: Role
    id: str
    appends: str = ""
    null: Literal["clears", "keeps"] | None = None
    patches_meta: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """It changes a thing of the session, such as a tool call, or adds it.

    Attributes:
        thing: the kind of thing.
        id: the field with its id; with dots if it is inside of others.
        appends: the field that is appended to a field of the thing; empty if the update has the fields of the thing.
        to: the field of the thing that it is appended to.
        is_base64: whether both are bytes in base64.
        null: what null does to a field of the thing. None if the update replaces the thing; otherwise, the fields that
            it lacks stay as they are.
        patches_meta: whether each key of `meta` replaces that key alone, or clears it with null.
        starts: whether it adds another thing if the one with this id has ended.
        model: the name of the update's class, if the thing is kept as an update of this kind; otherwise empty.
        new: the fields of a new thing, and of cleared ones.
    """

    thing: str
    id: str
    appends: str = ""
    to: str = ""
    is_base64: bool = False
    null: Literal["clears", "keeps"] | None = None
    patches_meta: bool = False
    starts: bool = False
    model: str = ""
    new: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Removes:
    """It removes a thing.

    Attributes:
        thing: the kind of thing.
        id: the field with its id.
    """

    thing: str
    id: str


@dataclass(frozen=True, slots=True)
class Sets:
    """It sets values of the state.

    Attributes:
        fields: the field of the update that each value is in, by the value's name. For "", the value is the update.
        null: what null does to a value. None if the update replaces all of these values; otherwise, the fields that it
            lacks stay as they are.
        patches_meta: whether each key of `meta` replaces that key alone, or clears it with null.
    """

    fields: Mapping[str, str]
    null: Literal["clears", "keeps"] | None = None
    patches_meta: bool = False


@dataclass(frozen=True, slots=True)
class AddsTo:
    """It is added to a list of the state.

    Attributes:
        name: the name of the list.
    """

    name: str


Effect: TypeAlias = Says | Changes | Removes | Sets | AddsTo
