"""Keeps NaN and Infinity out of what is sent (rule 3).

pydantic-core writes them: as null in a model, unless its configuration says otherwise, and as NaN and Infinity
elsewhere. A line without these words has none; the values are looked at only where one of them is found.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from itertools import chain, count
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from acp_runtime.jsonrpc.tolerant import is_json
from acp_runtime.models.json_values import as_array, as_object

# Looking at so many values takes less time than searching so many bytes.
_FEW = 1000
LONG = 64 * 1024

_NOT_FINITE = "NaN and Infinity are not JSON and can't be sent"
_SCALARS = frozenset({str, int, bool, type(None)})


def require_finite(value: Any, line: bytes) -> None:
    """Look at all numbers in a value, of which `line` was made.

    Raises:
        PydanticSerializationError: if one is NaN or infinite.
    """
    if len(line) < LONG and not _has_word(value, line):
        return
    waiting = [value]
    for looked_at in count():
        if not waiting or (looked_at == _FEW and not _has_word(value, line)):
            break
        each = waiting.pop()
        if isinstance(each, float) and not math.isfinite(each):
            raise PydanticSerializationError(_NOT_FINITE)
        if each.__class__ not in _SCALARS:
            waiting += _parts(each)
    # There are containers of other kinds, too.
    if not _is_ours(value) and _has_constant(line) and not is_json(line):
        raise PydanticSerializationError(_NOT_FINITE)


def _is_ours(value: Any) -> bool:
    """Whether this is a model of this package: one of those writes null."""
    return hasattr(value, "__acp_open__")


def _has_word(value: Any, line: bytes) -> bool:
    return line.rfind(b"null") >= 0 or (not _is_ours(value) and _has_constant(line))


def _has_constant(line: bytes) -> bool:
    return line.rfind(b"NaN") >= 0 or line.rfind(b"Infinity") >= 0


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, BaseModel):
        return chain(vars(value).values(), (value.__pydantic_extra__ or {}).values())
    if value.__class__ in (tuple, set, frozenset):
        items: Iterable[Any] = value
        return items
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    return as_array(value) or (as_object(value) or {}).values()
