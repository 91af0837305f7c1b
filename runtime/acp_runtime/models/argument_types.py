"""The types of arguments, as signatures show them.

They say nothing of the wire, and tell Hypothesis which values there are: `from_type` and `builds` go by signatures.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import GenericAlias, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from acp_runtime.models.markers import OtherThan
from acp_runtime.models.scalars import Integer, Number

_UNION: Any = Union


class _Values:
    """Metadata that is as a marker to readers, and a strategy to Hypothesis."""

    __is_annotated_types_grouped_metadata__ = True

    def __init__(self, marker: Any, strategy: Callable[[Any], Any]) -> None:
        self._marker = marker
        self._strategy = strategy

    def __iter__(self) -> Iterator[Any]:
        if strategies := sys.modules.get("hypothesis.strategies"):
            yield self._strategy(strategies)

    def __repr__(self) -> str:
        return repr(self._marker)


def argument_type(field: FieldInfo) -> Any:
    """The type of the argument that is a field's value."""
    return _annotated(field.annotation, field.metadata)


def _annotated(annotation: Any, metadata: Iterable[Any]) -> Any:
    shown = [each for marker in metadata for each in _shown(marker)]
    values = [each for each in shown if isinstance(each, _Values)]  # the last one is the narrowest
    kept = [each for each in shown if each not in values[:-1]]
    return Annotated[(_typed(annotation), *kept)] if kept else _typed(annotation)


def _typed(annotation: Any) -> Any:
    """A type, with the markers in it as they are shown."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return _JSON
    if origin is Annotated:
        return _annotated(arguments[0], arguments[1:])
    if origin in (Union, UnionType):
        return _UNION[tuple(map(_typed, arguments))]
    return GenericAlias(origin, tuple(map(_typed, arguments))) if origin in (list, dict) else annotation


def _shown(marker: Any) -> Iterable[Any]:
    """What is shown of a marker in an annotation: nothing of those that are of the wire."""
    if isinstance(marker, FieldInfo):
        return marker.metadata
    if isinstance(marker, Integer):
        return [_Values(marker, lambda draw: draw.integers(marker.minimum, marker.maximum))]
    if isinstance(marker, Number):
        bounds = {"min_value": marker.minimum, "max_value": marker.maximum}
        return [_Values(marker, lambda draw: draw.floats(**bounds, allow_nan=False, allow_infinity=False))]
    if isinstance(marker, OtherThan):
        return [_Values(marker, lambda draw: draw.text().filter(partial(_is_other_than, marker)))]
    return [] if type(marker).__module__ == "acp_runtime.models.markers" else [marker]


def _is_other_than(marker: OtherThan, value: str) -> bool:
    return value not in marker.known


def _json(draw: Any) -> Any:
    def containers(inner: Any) -> Any:
        return draw.lists(inner) | draw.dictionaries(draw.text(), inner)

    scalars = draw.none() | draw.booleans() | draw.integers() | draw.floats(allow_nan=False, allow_infinity=False)
    return draw.recursive(scalars | draw.text(), containers, max_leaves=5)


class _Json:
    def __repr__(self) -> str:
        return "JSON"


_JSON: Any = Annotated[Any, _Values(_Json(), _json)]
