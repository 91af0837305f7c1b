"""Keeps NaN and Infinity out of sent messages (rule 3).

pydantic-core writes them as null in models, unless the model's configuration says otherwise, and as NaN and Infinity
elsewhere. The values are checked only if the line contains one of these words or is long.
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

# Checking this many values takes less time than searching a line of this many bytes.
_FEW = 1000
LONG = 64 * 1024

_NOT_FINITE = "NaN and Infinity are not JSON and can't be sent; send null or a finite number instead"
_SCALARS = frozenset({str, int, bool, type(None)})


def require_finite(value: Any, line: bytes) -> None:
    """Check all numbers in a value.

    Args:
        value: the value that is sent.
        line: the JSON of the value.

    Raises:
        PydanticSerializationError: if a number is NaN or infinite.
    """
    if len(line) < LONG and not _may_have_infinite(value, line):
        return
    unchecked = [value]
    for checked in count():
        if not unchecked or (checked == _FEW and not _may_have_infinite(value, line)):
            break
        each = unchecked.pop()
        if isinstance(each, float) and not math.isfinite(each):
            raise PydanticSerializationError(_NOT_FINITE)
        if each.__class__ not in _SCALARS:
            unchecked += _parts(each)
    # Catches numbers in other kinds of containers, such as generators.
    if not _is_generated_model(value) and _has_constant(line) and not is_json(line):
        raise PydanticSerializationError(_NOT_FINITE)


def _is_generated_model(value: Any) -> bool:
    """Return whether a value is an instance of a generated model, which writes infinite numbers as null."""
    return hasattr(value, "__acp_unknown__")


def _may_have_infinite(value: Any, line: bytes) -> bool:
    return line.rfind(b"null") >= 0 or (not _is_generated_model(value) and _has_constant(line))


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
