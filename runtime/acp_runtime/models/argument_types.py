"""The types of arguments as signatures show them.

They leave out the markers that are only about JSON, and tell Hypothesis which values are valid: its `from_type` and
`builds` read signatures.
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


class _MarkerWithStrategy:
    """Metadata that prints as a marker and gives Hypothesis a strategy."""

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
    """Return the type of the argument for a field."""
    return _annotated(field.annotation, field.metadata)


def _annotated(annotation: Any, metadata: Iterable[Any]) -> Any:
    shown = [each for marker in metadata for each in _shown(marker)]
    strategies = [each for each in shown if isinstance(each, _MarkerWithStrategy)]
    kept = [each for each in shown if each not in strategies[:-1]]  # the last one is the narrowest
    return Annotated[(_shown_type(annotation), *kept)] if kept else _shown_type(annotation)


def _shown_type(annotation: Any) -> Any:
    """Return a type with the markers inside it replaced by those that are shown."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return _JSON
    if origin is Annotated:
        return _annotated(arguments[0], arguments[1:])
    if origin in (Union, UnionType):
        return _UNION[tuple(map(_shown_type, arguments))]
    return GenericAlias(origin, tuple(map(_shown_type, arguments))) if origin in (list, dict) else annotation


def _shown(marker: Any) -> Iterable[Any]:
    """Return the metadata that is shown for a marker; none for a marker about JSON."""
    if isinstance(marker, FieldInfo):
        return marker.metadata
    if isinstance(marker, Integer):
        return [_MarkerWithStrategy(marker, lambda draw: draw.integers(marker.minimum, marker.maximum))]
    if isinstance(marker, Number):
        bounds = {"min_value": marker.minimum, "max_value": marker.maximum}
        return [_MarkerWithStrategy(marker, lambda draw: draw.floats(**bounds, allow_nan=False, allow_infinity=False))]
    if isinstance(marker, OtherThan):
        return [_MarkerWithStrategy(marker, lambda draw: draw.text().filter(partial(_is_other_than, marker)))]
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


_JSON: Any = Annotated[Any, _MarkerWithStrategy(_Json(), _json)]
