"""Facts about places in messages, as the tables of methods have them. `acp_runtime.connection.places` finds the places.

A place is a path of properties and tags, with dots between them. Arrays and maps have no step. The tag of a union's
member is a step, and `*` is the step of the member for unlisted tags. If the params or the result are themselves a
union, the tag stands behind its property: `mode.url`.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, TypeAlias

from acp_runtime.errors import CapabilityError, GuardError, RelativePath

# On POSIX, or beginning with a drive or a UNC share.
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")


class Needs(NamedTuple):
    """What is in the place needs a capability of the side that receives it.

    Attributes:
        place: the place; empty for the whole message.
        capability: its path in the `initialize` message of that side.
        rejects: whether that side answers with an error if it did not advertise the capability.
    """

    place: str
    capability: str
    rejects: bool = False

    def is_violated_by(self, value: Any) -> bool:
        """Return whether a value may not be there, given that the capability was not advertised."""
        return True

    def guard_error(self, call: str, value: Any) -> GuardError:
        """Return the error for the sender."""
        return CapabilityError(f"{call} with {self.place}" if self.place else call, self.capability)

    @property
    def fault(self) -> str:
        """What is wrong with a received value."""
        return f"Needs {self.capability!r}, which this side did not advertise"


class Absolute(NamedTuple):
    """The place has an absolute path, or several.

    Attributes:
        place: the place.
        rejects: whether the side that receives a relative path answers with an error.
    """

    place: str
    rejects: bool = False

    def is_violated_by(self, value: Any) -> bool:
        """Return whether a value is a relative path."""
        return isinstance(value, str) and not _ABSOLUTE.match(value)

    def guard_error(self, call: str, value: Any) -> GuardError:
        """Return the error for the sender."""
        return RelativePath(f"{call} needs an absolute path in {self.place!r}, found {value!r}")

    @property
    def fault(self) -> str:
        """What is wrong with a received value."""
        return "Input should be an absolute path"


class Unsupported(NamedTuple):
    """The side that receives this answers with an error, because no capability says that it supports it.

    It may be sent: the peer may know it.

    Attributes:
        place: the place.
    """

    place: str

    @property
    def rejects(self) -> bool:
        """Whether that side answers with an error: always."""
        return True

    def is_violated_by(self, value: Any) -> bool:
        """Return whether a received value may not be there."""
        return True

    @property
    def fault(self) -> str:
        """What is wrong with a received value."""
        return "This side does not support this type"


PlaceFact: TypeAlias = Needs | Absolute | Unsupported
