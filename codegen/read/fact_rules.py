"""The keys and values that an entry of `methods.toml` may have.

Whether the schema has what an entry names is checked in `codegen.read.facts`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from codegen.names import attribute_name
from codegen.nodes import is_object


class Key(NamedTuple):
    """What a key of an entry may hold: a check of the value, and its description for the error message."""

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


_TRUE, _PROPERTY = Key(_is_true, "true, or omitted"), Key(_is_text, "the name of a property")
KEYS: dict[str, Key] = {
    "baseline": _TRUE,
    "capability": Key(_is_text, "the path of a capability"),
    "offered": Key(_is_text, "a text that says when the method may be called"),
    "content": Key(_are_texts, "a table from parts of the params to the paths of their capabilities"),
    "opens": _TRUE,
    "creates": _PROPERTY,
    "ends": _PROPERTY,
    "exempt": _PROPERTY,
    "gone": Key(_is_error_code, "a negative error code"),
    "cancels": _PROPERTY,
    "cancelled": Key(_is_cancelled, 'a table { by = "<notification>", result = { ... } }'),
    "paths": Key(_is_texts, "a list of the names of properties"),
}
_UNLOCKING = ("baseline", "capability", "offered")


# The keys of `[<version>.properties]`.
PROPERTIES = frozenset(
    {
        "session",
        "version",
        "lower",
        *(f"{role}_{what}" for role in ("agent", "client") for what in ("capabilities", "info")),
    }
)
LOWER = ("own", "refused")


def entry_problem(entry: Any, side: str, advertising: Collection[str]) -> str:
    """Return a sentence about what is wrong with an entry; empty if nothing is.

    Args:
        entry: the value of a method.
        side: the method's side.
        advertising: the sides that advertise capabilities.
    """
    if not is_object(entry):
        return f"Expected a table such as {{ baseline = true }}, found {entry!r}."
    return _key_problem(entry) or _unlocking_problem(entry, side, advertising)


def _key_problem(entry: dict[str, Any]) -> str:
    for key, value in entry.items():
        if key not in KEYS:
            return f"Unknown key {key!r}; the keys are {', '.join(KEYS)}."
        if not KEYS[key].is_valid(value):
            return f"`{key}` must be {KEYS[key].words}, found {value!r}."
    return ""


def _unlocking_problem(entry: dict[str, Any], side: str, advertising: Collection[str]) -> str:
    if not entry.keys() & set(_UNLOCKING):
        return "The entry doesn't say when the method may be called; add `baseline`, `capability` or `offered`."
    if "offered" in entry and entry.keys() & {"baseline", "capability"}:
        return "`offered` is for methods that need no capability; remove it, or `baseline` and `capability`."
    if side not in advertising and (found := sorted(entry.keys() & {"content", "capability"})):
        return f"The side {side!r} advertises no capabilities; use `offered` instead of `{found[0]}`."
    return ""


def properties_problem(found: Any) -> str:
    """Return a sentence about what is wrong with `[<version>.properties]`; empty if nothing is."""
    needed = ", ".join(sorted(PROPERTIES))
    if not is_object(found):
        return f"The table is missing; it needs {needed}." if found is None else f"Expected a table, found {found!r}."
    for key in sorted(PROPERTIES ^ found.keys()):
        return f"`{key}` is missing." if key in PROPERTIES else f"Unknown key {key!r}; the keys are {needed}."
    for key, value in found.items():
        if key == "lower" and value not in LOWER:
            return f"`lower` must be {' or '.join(map(repr, LOWER))}, found {value!r}."
        if not _is_text(value) or attribute_name(value) is None:
            return f"`{key}` must be {_PROPERTY.words}, found {value!r}."
    return ""
