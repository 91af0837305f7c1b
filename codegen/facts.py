"""What the runtime has to know of a method beyond its name and models: the facts in `methods.toml`, as it reads them.

Each fact names properties of the schema. A fact about a property that this schema doesn't have is left out, because
the file covers every release; a test makes sure that the pinned schemas have all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from codegen.names import attribute_name
from codegen.nodes import is_object

# The keyword of the runtime's `Request` or `Notification`, and its value.
Facts: TypeAlias = tuple[tuple[str, Any], ...]
_IsValid: TypeAlias = Callable[[Any], bool]


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


# What a line can have, and what each is.
KEYS: dict[str, _IsValid] = {
    "baseline": _is_true,
    "capability": _is_text,
    "offered": _is_text,
    "content": _are_texts,
    "opens": _is_true,
    "creates": _is_text,
    "ends": _is_text,
    "exempt": _is_text,
    "gone": _is_error_code,
    "cancels": _is_text,
    "cancelled": _is_cancelled,
    "paths": _is_texts,
}


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


def read_facts(data: dict[str, Any], params: dict[str, Any], result: dict[str, Any]) -> Facts:
    """The facts of a method's line, by the definitions of its params and its result (empty for a notification)."""
    found: list[tuple[str, Any]] = [(key, data[key]) for key in ("opens", "gone") if key in data]
    for key, definition in (("creates", result), ("ends", params), ("exempt", params), ("cancels", params)):
        if key in data and _has(definition, data[key]):
            found.append((key, attribute_name(data[key])))
    cancelled = data.get("cancelled")
    if cancelled and all(_has(result, key) for key in cancelled["result"]):
        found.append(("cancelled", (cancelled["by"], json.dumps(cancelled["result"], separators=(",", ":")))))
    paths = tuple(attribute_name(path) for path in data.get("paths", ()) if _has(params, path))
    return (*found, *((("paths", paths),) if paths else ()))


def _has(definition: dict[str, Any], key: str) -> bool:
    return key in definition.get("properties", {}) and attribute_name(key) is not None
