"""Compares our parsed value with the npm SDK's parsed value of the same message.

The npm SDK drops most unknown keys and stores defaults. We keep unknown keys, and an absent field reads as its default.
So a field that is set here must be there and be equal. A field that is absent here may be there if it equals the value
that it reads as here. An unknown key must be equal if it is there, and be there if it belongs to an open variant.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from acp_runtime.models.model import Model, OpenModel
from tests.support.models.oracle import same_json

Json: TypeAlias = Any


def differences(ours: Any, theirs: Json, where: str = "") -> list[str]:
    """Return the JSON pointers where the two differ, with both values."""
    if isinstance(ours, Model) and isinstance(theirs, dict):
        return _of_models(ours, theirs, where)
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [difference for at, (left, right) in pairs for difference in differences(left, right, f"{where}/{at}")]
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        return [difference for key in ours for difference in differences(ours[key], theirs[key], f"{where}/{key}")]
    same = not isinstance(ours, Model | list | dict) and same_json(_as_double(ours), _as_double(theirs))
    return [] if same or (ours == theirs in ([], {})) else [f"{where}: ours {ours!r}, theirs {theirs!r}"]


def _of_models(ours: Model, theirs: dict[str, Json], where: str) -> list[str]:
    names = {field.alias or name: name for name, field in type(ours).model_fields.items()}
    unknown = ours.model_extra or {}
    results = [f"{where}/{key}: only in theirs" for key in theirs.keys() - names.keys() - unknown.keys()]
    for key in unknown:
        if key in theirs:
            results += differences(unknown[key], theirs[key], f"{where}/{key}")
        elif isinstance(ours, OpenModel):
            results.append(f"{where}/{key}: only in ours")
    for key, name in names.items():
        if key in theirs:
            results += differences(getattr(ours, name), theirs[key], f"{where}/{key}")
        elif name in ours.model_fields_set:
            results.append(f"{where}/{key}: only in ours")
    return results


def _as_double(value: Any) -> Any:
    """Return a number as JavaScript represents it."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
