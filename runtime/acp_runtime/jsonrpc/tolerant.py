"""Reading what a strict parser refuses, to know whose it is and what is wrong with it (rule 3).

pydantic-core refuses some valid JSON: escaped lone surrogates, more than 200 levels of nesting, and some numbers. That
is read here as it is meant. Where something is not JSON but its meaning is certain, it is read all the same: a request
is then answered under its own id, and the caller of a response gets an error.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import from_json

from acp_runtime.models.json_values import as_array, as_object

if TYPE_CHECKING:
    from json import JSONDecodeError

    from acp_runtime.jsonrpc.outline import Outline

MAX_DEPTH = 512
"""How deep a line may be nested: 500 levels inside of a message, and those of the message itself."""

# What is nested deeper is not a message that somebody meant.
_MAX_CERTAIN_DEPTH = 10_000


class Parsed(NamedTuple):
    """A line that was read whole.

    Attributes:
        value: what it says; of an object that is too deep or has too long a number its outermost level alone.
        fault: why it is refused all the same, as what it has; empty if it is valid JSON.
    """

    value: Any
    fault: str


class Unreadable(ValueError):
    """A line that isn't JSON by any reading.

    Args:
        reason: what is wrong and where; holds nothing of the line.
        members: the outermost object's, as far as they can be read.
    """

    def __init__(self, reason: str, members: dict[str, Any]) -> None:
        super().__init__(reason)
        self.reason = reason
        self.members = members


def parse(line: bytes) -> Parsed:
    """Read a line of any nesting, with NaN, Infinity and lone surrogates.

    Raises:
        Unreadable: if that can't be done.
    """
    import json  # only here: most programs start and never see such a line

    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        readable = _outline(line.decode("utf-8", "replace"))
        raise Unreadable(f"invalid UTF-8 at byte {error.start + 1}", readable.members) from None
    constants: list[str] = []
    try:
        value = json.loads(text, parse_constant=constants.append)
    except json.JSONDecodeError as error:
        raise _unreadable(error, text) from None
    except RecursionError:
        return _outermost(text, "too many levels of nesting")
    except ValueError:
        return _outermost(text, "a number of too many digits")
    return Parsed(value, "NaN or Infinity" if constants else _too_deep(value))


def is_json(line: bytes) -> bool:
    """Whether a line is JSON to the letter, of any nesting that is accepted."""
    try:
        from_json(line, allow_inf_nan=False)
    except ValueError:
        try:
            return not parse(line).fault
        except Unreadable:
            return False
    return True


def _unreadable(error: JSONDecodeError, text: str) -> Unreadable:
    what = error.msg.lower().removesuffix(" at").removesuffix(": ")
    return Unreadable(f"{what} at byte {len(text[: error.pos].encode()) + 1}", _outline(text).members)


def _outermost(text: str, fault: str) -> Parsed:
    found = _outline(text)
    if not found.whole or found.levels > _MAX_CERTAIN_DEPTH:
        raise Unreadable(fault, found.members)
    return Parsed(found.members, fault)


def _too_deep(value: Any) -> str:
    level = _containers([value])
    for _ in range(MAX_DEPTH):
        if not level:
            return ""
        level = _containers(chain.from_iterable(map(_items, level)))
    return "too many levels of nesting" if level else ""


def _containers(values: Any) -> list[Any]:
    return [value for value in values if isinstance(value, (dict, list))]


def _items(container: Any) -> Any:
    fields = as_object(container)
    return as_array(container) or () if fields is None else fields.values()


def _outline(text: str) -> Outline:
    from acp_runtime.jsonrpc.outline import outline  # compiles expressions for milliseconds, and is rarely needed

    return outline(text)
