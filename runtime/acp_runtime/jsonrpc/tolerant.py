"""Parses lines that a strict parser rejects, to find out which message they are and what is wrong with them (rule 3).

pydantic-core rejects some valid JSON: escaped lone surrogates, more than 200 levels of nesting, and some numbers. This
parser accepts it. It also reads invalid JSON whose meaning is certain, so that a request is answered with its own id
and the call of a response gets an error.
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
"""How deep a line may be nested: 500 levels inside a message, plus those of the message itself."""

# A line that is nested more deeply is treated as unreadable.
_MAX_CERTAIN_DEPTH = 10_000


class Parsed(NamedTuple):
    """A line that was read completely.

    Attributes:
        value: its value; only the outermost level if it is nested too deeply or has a number with too many digits.
        fault: the invalid content because of which it is refused, such as "NaN or Infinity"; "" if it is valid JSON.
    """

    value: Any
    fault: str


class Unreadable(ValueError):
    """A line that can't be parsed as JSON, not even tolerantly.

    Args:
        reason: what is wrong and where, without any content of the line.
        members: the readable members of the outermost object.
    """

    def __init__(self, reason: str, members: dict[str, Any]) -> None:
        super().__init__(reason)
        self.reason = reason
        self.members = members


def parse(line: bytes) -> Parsed:
    """Parse a line, accepting any depth of nesting, NaN, Infinity and lone surrogates.

    Raises:
        Unreadable: if the line can't be parsed.
    """
    import json  # imported here because few programs ever receive such a line

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
        return _outermost(text, "a number with too many digits")
    return Parsed(value, "NaN or Infinity" if constants else _too_deep(value))


def is_json(line: bytes) -> bool:
    """Return whether a line is strict JSON, nested no more deeply than `MAX_DEPTH`."""
    try:
        from_json(line, allow_inf_nan=False)
    except ValueError:
        try:
            return not parse(line).fault
        except Unreadable:
            return False
    return True


def _unreadable(error: JSONDecodeError, text: str) -> Unreadable:
    problem = error.msg.lower().removesuffix(" at").removesuffix(": ")
    return Unreadable(f"{problem} at byte {len(text[: error.pos].encode()) + 1}", _outline(text).members)


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
    from acp_runtime.jsonrpc.outline import outline  # imported here because it is rarely needed and slow to import

    return outline(text)
