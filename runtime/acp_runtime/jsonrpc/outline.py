"""Reads the top level of a line that no parser can read: invalid, truncated, or nested too deeply to parse.

The scanner goes through the line token by token without recursion, so nesting costs no stack. It collects the members
of the outermost object up to the first invalid token, and tells whether the line is a single complete value.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

# Bounds the time to about 0.2 s. Consecutive brackets are one step, as are consecutive strings and numbers.
_MAX_STEPS = 100_000

_BLANK = r"[ \t\n\r]*+"
_STRING = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_SCALAR = r"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null|NaN|-?Infinity)"
_PLAIN = rf"(?:{_STRING}|{_SCALAR})"
_CLOSER = re.compile(r"[\]}]")
_CLOSERS = rf"[\]}}](?:{_BLANK}[\]}}])*+"
_TOKEN = re.compile(rf"{_BLANK}(?:({_STRING})|({_SCALAR})|([\[{{])|({_CLOSERS})|([,:]))")
_STRING_KIND, _SCALAR_KIND, _OPEN, _CLOSE = range(1, 5)
_END = re.compile(rf"{_BLANK}\Z")

# Skipped in one match below the top level: plain items, plain members, and consecutive opening brackets.
_ITEMS = re.compile(rf"(?:{_BLANK}{_PLAIN}{_BLANK},)++")
_MEMBERS = re.compile(rf"(?:{_BLANK}{_STRING}{_BLANK}:{_BLANK}{_PLAIN}{_BLANK},)++")
_OPENER = re.compile(rf"{_BLANK}(?:(\[)|\{{{_BLANK}{_STRING}{_BLANK}:)")
_OPENERS = re.compile(rf"(?:{_BLANK}(?:\[|\{{{_BLANK}{_STRING}{_BLANK}:))++")

# The kinds of token that may come next.
_VALUE = frozenset({"value"})
_ITEM_OR_END = frozenset({"value", "close"})
_KEY = frozenset({"key"})
_KEY_OR_END = frozenset({"key", "close"})
_COLON = frozenset({":"})
_COMMA_OR_END = frozenset({",", "close"})

UNREAD: Final = object()
"""Stands for a value that isn't read: an array, an object, a number with too many digits, or an incomplete value."""


class Outline(NamedTuple):
    """The readable part of a line.

    Attributes:
        members: the members of the outermost object; none if the line is not an object. An incomplete value is UNREAD.
        whole: whether the line is a single JSON value, with NaN and Infinity allowed.
        levels: the depth of nesting in the part that was read.
    """

    members: dict[str, Any]
    whole: bool
    levels: int


def outline(text: str) -> Outline:
    """Read the top level of a line up to the first invalid token. Never raises."""
    scanner = _Scanner(text)
    for _ in range(_MAX_STEPS):
        if not scanner.step():
            break
        if not scanner.depth:
            return Outline(scanner.members, _END.match(text, scanner.position) is not None, scanner.levels)
    return Outline({**scanner.members, **scanner.unfinished}, False, scanner.levels)


class _Scanner:
    """Scans a text token by token and checks that each token is valid at its position.

    Attributes:
        position: where the next token begins.
        members: the complete members of the outermost object so far.
        unfinished: the member whose name was read but not its value.
        levels: the greatest depth so far.
    """

    def __init__(self, text: str) -> None:
        self.position = 0
        self.levels = 0
        self.members: dict[str, Any] = {}
        self.unfinished: dict[str, Any] = {}
        self._text = text
        self._closers: list[str] = []
        self._next = _VALUE
        self._key = ""
        # Added to `members` at the next comma or bracket: until then, a number may be truncated.
        self._member: Any = None

    @property
    def depth(self) -> int:
        """The number of open arrays and objects."""
        return len(self._closers)

    def step(self) -> bool:
        """Read one token. Return whether it is valid here."""
        if len(self._closers) > 1:
            self._skip_plain_values()
        if self._closers and "value" in self._next:
            self._skip_openers()
        match = _TOKEN.match(self._text, self.position)
        if match is None or match.lastindex is None:
            return False
        self.position = match.end()
        self.levels = max(self.levels, len(self._closers))
        return self._accept(match.lastindex, match[match.lastindex])

    def _skip_plain_values(self) -> None:
        """Skip items or members that are neither arrays nor objects."""
        in_array = self._closers[-1] == "]"
        if ("value" if in_array else "key") not in self._next:
            return
        match = (_ITEMS if in_array else _MEMBERS).match(self._text, self.position)
        if match is not None:
            self.position = match.end()
            self._next = _VALUE if in_array else _KEY

    def _skip_openers(self) -> None:
        """Skip all directly nested opening brackets."""
        match = _OPENERS.match(self._text, self.position)
        if match is None:
            return
        self.position = match.end()
        if self._closers == ["}"]:
            self._member = UNREAD
        self._closers += ["]" if opener else "}" for opener in _OPENER.findall(match[0])]
        self._next = _ITEM_OR_END if self._closers[-1] == "]" else _VALUE

    def _accept(self, kind: int, token: str) -> bool:
        if kind in (_STRING_KIND, _SCALAR_KIND, _OPEN):
            return self._accept_value(kind, token) if "value" in self._next else self._accept_key(kind, token)
        if kind == _CLOSE:
            return self._accept_closers(token)
        if token not in self._next:
            return False
        if token == "," and self._closers == ["}"]:
            self._finish_member()
        self._next = _VALUE if token == ":" or self._closers[-1] == "]" else _KEY
        return True

    def _accept_value(self, kind: int, token: str) -> bool:
        if self._closers == ["}"]:
            self._member = UNREAD if kind == _OPEN else _scalar(token)
        self._next = _COMMA_OR_END
        if kind == _OPEN:
            self._closers.append("]" if token == "[" else "}")
            self._next = _ITEM_OR_END if token == "[" else _KEY_OR_END
        return True

    def _accept_key(self, kind: int, token: str) -> bool:
        if kind != _STRING_KIND or "key" not in self._next:
            return False
        if self._closers == ["}"]:
            self._key = _scalar(token)
            self.unfinished = {self._key: UNREAD}
        self._next = _COLON
        return True

    def _finish_member(self) -> None:
        self.members[self._key] = self._member
        self.unfinished = {}

    def _accept_closers(self, token: str) -> bool:
        found: list[str] = _CLOSER.findall(token)
        closers = found[: self.depth]
        if "close" not in self._next or self._closers[-1 : -len(closers) - 1 : -1] != closers:
            return False
        is_empty = self.depth == 1 and self._next is not _COMMA_OR_END
        if len(closers) == self.depth and closers[-1] == "}" and not is_empty:
            self._finish_member()
        del self._closers[-len(closers) :]
        self._next = _COMMA_OR_END
        return len(found) == len(closers)


def _scalar(token: str) -> Any:
    try:
        return json.loads(token)
    except ValueError:
        return UNREAD
