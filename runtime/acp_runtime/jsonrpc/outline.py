"""The top level of a line that no parser reads: damaged, cut off, or nested so deeply that parsing would overflow.

Goes through a line token by token and builds nothing, so depth costs no stack. It finds the members of the outermost
object up to the first token that doesn't belong, and whether the line was one value up to there.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

# Bounds the time, to some 0.2 s. Brackets in a row are one step, and so are strings and numbers in a row.
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

# What is passed over below the top level: items, members, and what is nested with nothing before it.
_ITEMS = re.compile(rf"(?:{_BLANK}{_PLAIN}{_BLANK},)++")
_MEMBERS = re.compile(rf"(?:{_BLANK}{_STRING}{_BLANK}:{_BLANK}{_PLAIN}{_BLANK},)++")
_OPENER = re.compile(rf"{_BLANK}(?:(\[)|\{{{_BLANK}{_STRING}{_BLANK}:)")
_OPENERS = re.compile(rf"(?:{_BLANK}(?:\[|\{{{_BLANK}{_STRING}{_BLANK}:))++")

# What may come next.
_VALUE = frozenset({"value"})
_ITEM_OR_END = frozenset({"value", "close"})
_KEY = frozenset({"key"})
_KEY_OR_END = frozenset({"key", "close"})
_COLON = frozenset({":"})
_COMMA_OR_END = frozenset({",", "close"})

UNREAD: Final = object()
"""Stands for a value that isn't read: an array, an object, a number of too many digits, or what is damaged."""


class Outline(NamedTuple):
    """What could be read.

    Attributes:
        members: of the outermost object, if the line is one; UNREAD is the value of one that was not read to its end.
        whole: the line is one JSON value, if JSON had NaN and Infinity.
        levels: how deep it is nested, as far as it was read.
    """

    members: dict[str, Any]
    whole: bool
    levels: int


def outline(text: str) -> Outline:
    """Read the top level of a line as far as it goes. Never raises."""
    walk = _Walk(text)
    for _ in range(_MAX_STEPS):
        if not walk.step():
            break
        if not walk.depth:
            return Outline(walk.members, _END.match(text, walk.position) is not None, walk.levels)
    return Outline({**walk.members, **walk.unfinished}, False, walk.levels)


class _Walk:
    """Goes through a text and checks that each token belongs where it stands.

    Attributes:
        position: where the next token begins.
        members: those of the outermost object so far.
        unfinished: the one whose name was read, and its value was not.
        levels: how deep it has been.
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
        # A number may be cut off: only what comes next shows that it is complete.
        self._member: Any = None

    @property
    def depth(self) -> int:
        """How many arrays and objects are open."""
        return len(self._closers)

    def step(self) -> bool:
        """Go on by one token. Returns whether there was one that belongs here."""
        if len(self._closers) > 1:
            self._pass_over()
        if self._closers and "value" in self._next:
            self._open()
        match = _TOKEN.match(self._text, self.position)
        if match is None or match.lastindex is None:
            return False
        self.position = match.end()
        self.levels = max(self.levels, len(self._closers))
        return self._take(match.lastindex, match[match.lastindex])

    def _pass_over(self) -> None:
        """Pass over what is neither an array nor an object."""
        in_array = self._closers[-1] == "]"
        if ("value" if in_array else "key") not in self._next:
            return
        match = (_ITEMS if in_array else _MEMBERS).match(self._text, self.position)
        if match is not None:
            self.position = match.end()
            self._next = _VALUE if in_array else _KEY

    def _open(self) -> None:
        """Go down all levels that begin here, one in the other."""
        match = _OPENERS.match(self._text, self.position)
        if match is None:
            return
        self.position = match.end()
        if self._closers == ["}"]:
            self._member = UNREAD
        self._closers += ["]" if opener else "}" for opener in _OPENER.findall(match[0])]
        self._next = _ITEM_OR_END if self._closers[-1] == "]" else _VALUE

    def _take(self, kind: int, token: str) -> bool:
        if kind in (_STRING_KIND, _SCALAR_KIND, _OPEN):
            return self._take_value(kind, token) if "value" in self._next else self._take_key(kind, token)
        if kind == _CLOSE:
            return self._take_closers(token)
        if token not in self._next:
            return False
        if token == "," and self._closers == ["}"]:
            self._finish_member()
        self._next = _VALUE if token == ":" or self._closers[-1] == "]" else _KEY
        return True

    def _take_value(self, kind: int, token: str) -> bool:
        if self._closers == ["}"]:
            self._member = UNREAD if kind == _OPEN else _scalar(token)
        self._next = _COMMA_OR_END
        if kind == _OPEN:
            self._closers.append("]" if token == "[" else "}")
            self._next = _ITEM_OR_END if token == "[" else _KEY_OR_END
        return True

    def _take_key(self, kind: int, token: str) -> bool:
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

    def _take_closers(self, token: str) -> bool:
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
