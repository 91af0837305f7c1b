"""What a line of `methods.toml` can say, and what is wrong with one that says something else.

Whether what it names is in the schema is looked at in `codegen.read.facts`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from codegen.names import attribute_name
from codegen.nodes import is_object


class Key(NamedTuple):
    """What a key of a line can have: whether a value is right, and in words what it has to be."""

    is_valid: Callable[[Any], bool]
    words: str


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_texts(value: Any) -> bool:
    texts: list[Any] = value
    return isinstance(value, list) and bool(texts) and all(map(_is_text, texts))


def _is_cancelled(value: Any) -> bool:
    return (
        is_object(value) and value.keys() == {"by", "result"} and _is_text(value["by"]) and is_object(value["result"])
    )


def _is_error_code(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value < 0


def _is_true(value: Any) -> bool:
    return value is True


def _are_texts(value: Any) -> bool:
    return is_object(value) and all(map(_is_text, value.values()))


_TRUE, _PROPERTY = Key(_is_true, "true, or left out"), Key(_is_text, "the name of a property")
KEYS: dict[str, Key] = {
    "baseline": _TRUE,
    "capability": Key(_is_text, "the path of a capability"),
    "offered": Key(_is_text, "a text that says when the method may be called"),
    "content": Key(_are_texts, "a table of parts of the params and the paths of their capabilities"),
    "opens": _TRUE,
    "creates": _PROPERTY,
    "ends": _PROPERTY,
    "exempt": _PROPERTY,
    "gone": Key(_is_error_code, "an error code, which is negative"),
    "cancels": _PROPERTY,
    "cancelled": Key(_is_cancelled, 'a table { by = "a notification", result = { ... } }'),
    "paths": Key(_is_texts, "a list of names of properties"),
}
_UNLOCKING = ("baseline", "capability", "offered")


# What `[<version>.properties]` has.
PROPERTIES = frozenset(
    {
        "session",
        "version",
        "lower",
        *(f"{role}_{what}" for role in ("agent", "client") for what in ("capabilities", "info")),
    }
)
LOWER = ("own", "refused")


def entry_problem(line: Any, side: str, advertising: Collection[str]) -> str:
    """What is wrong with a line, as a sentence; empty if nothing is.

    Args:
        line: what stands behind the name of a method.
        side: whose method it is.
        advertising: the sides that say in a message what they can do.
    """
    if not is_object(line):
        return f"{line!r} is not a table, such as {{ baseline = true }}."
    return _key_problem(line) or _unlocking_problem(line, side, advertising)


def _key_problem(line: dict[str, Any]) -> str:
    for key, value in line.items():
        if key not in KEYS:
            return f"There is no key {key!r}; a line may have {', '.join(KEYS)}."
        if not KEYS[key].is_valid(value):
            return f"`{key}` is {value!r}, and has to be {KEYS[key].words}."
    return ""


def _unlocking_problem(line: dict[str, Any], side: str, advertising: Collection[str]) -> str:
    if not line.keys() & set(_UNLOCKING):
        return "It doesn't say what unlocks the method; add `baseline`, `capability` or `offered`."
    if "offered" in line and line.keys() & {"baseline", "capability"}:
        return "`offered` is for a method that no capability unlocks; take it out, or `baseline` and `capability`."
    if side not in advertising and (found := sorted(line.keys() & {"content", "capability"})):
        return f"No message says what the side {side!r} can do; say `offered` instead of `{found[0]}`."
    return ""


def properties_problem(found: Any) -> str:
    """What is wrong with what all methods of a version have in common, as a sentence; empty if nothing is."""
    needed = ", ".join(sorted(PROPERTIES))
    if not is_object(found):
        return f"The table is missing; it needs {needed}." if found is None else f"{found!r} is not a table."
    for key in sorted(PROPERTIES ^ found.keys()):
        return f"There is no {key!r}; it needs {needed}." if key in PROPERTIES else f"{key!r} is none of {needed}."
    for key, value in found.items():
        if key == "lower" and value not in LOWER:
            return f"`lower` is {value!r}, and has to be {' or '.join(map(repr, LOWER))}."
        if not _is_text(value) or attribute_name(value) is None:
            return f"`{key}` is {value!r}, and has to be {_PROPERTY.words}."
    return ""
