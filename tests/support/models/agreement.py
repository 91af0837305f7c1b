"""Whether a parsed value is what the npm SDK's parser made of the same message.

Theirs drops most unknown keys and fills in defaults; ours keeps the former and reads the latter when an absent field
is asked for. So: a field that we have must be there and equal, a field that is absent may be there only as what reading
it gives, unknown keys must be equal where they are there, and the payload of an open variant must be.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from acp_runtime.models.model import Model, OpenModel
from tests.support.models.oracle import same_json

Json: TypeAlias = Any


def differences(ours: Any, theirs: Json, where: str = "") -> list[str]:
    """Where the two differ, as JSON pointers with both values."""
    if isinstance(ours, Model) and isinstance(theirs, dict):
        return _of_models(ours, theirs, where)
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [each for at, (left, right) in pairs for each in differences(left, right, f"{where}/{at}")]
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        return [each for key in ours for each in differences(ours[key], theirs[key], f"{where}/{key}")]
    same = not isinstance(ours, Model | list | dict) and same_json(_as_double(ours), _as_double(theirs))
    return [] if same or (ours == theirs in ([], {})) else [f"{where}: ours {ours!r}, theirs {theirs!r}"]


def _of_models(ours: Model, theirs: dict[str, Json], where: str) -> list[str]:
    names = {field.alias or name: name for name, field in type(ours).model_fields.items()}
    unknown = ours.model_extra or {}
    found = [f"{where}/{key}: theirs alone" for key in theirs.keys() - names.keys() - unknown.keys()]
    for key in unknown:
        if key in theirs:
            found += differences(unknown[key], theirs[key], f"{where}/{key}")
        elif isinstance(ours, OpenModel):
            found.append(f"{where}/{key}: ours alone")
    for key, name in names.items():
        if key in theirs:
            found += differences(getattr(ours, name), theirs[key], f"{where}/{key}")
        elif name in ours.model_fields_set:
            found.append(f"{where}/{key}: ours alone")
    return found


def _as_double(value: Any) -> Any:
    """A number as JavaScript has it."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
