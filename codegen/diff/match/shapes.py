"""Types as trees, parsed from the Python annotations of the intermediate representation so that they can be compared.

Integer widths and string formats become limits of `integer` and `string`, so that a wider integer is a looser limit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

_INTEGERS = {
    f"{sign}int{bits}".capitalize(): (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
_SCALARS = {"str": "string", "int": "integer", "float": "number", "Double": "number", "bool": "boolean"}
_FORMATS = {"DateTime": "date-time", "Regex": "regex", "Uri": "uri", "Base64": "base64"}
_BOUNDS = ("minimum", "maximum")
_NO_LIMIT = ("min_length", 0)


@dataclass(frozen=True)
class Shape:
    """A type.

    Attributes:
        kind: `any`, `null`, `literal`, `list`, `map`, `ref`, `union`, or a scalar: `string`, `integer`, ...
        name: the definition that a `ref` refers to.
        values: the values of a `literal`.
        parts: the item of a list, the value of a map, the members of a union.
        limits: constraints by name, sorted.
    """

    kind: str
    name: str = ""
    values: tuple[Any, ...] = ()
    parts: tuple[Shape, ...] = ()
    limits: tuple[tuple[str, Any], ...] = ()

    def limit(self, name: str) -> Any:
        return dict(self.limits).get(name)

    def names(self) -> Iterator[str]:
        """Yield every definition that the type refers to."""
        if self.kind == "ref":
            yield self.name
        for part in self.parts:
            yield from part.names()

    def renamed(self, names: dict[str, str]) -> Shape:
        return replace(self, name=names.get(self.name, self.name), parts=tuple(p.renamed(names) for p in self.parts))

    def unlimited(self) -> Shape:
        return replace(self, limits=(), parts=tuple(part.unlimited() for part in self.parts))

    @property
    def nullable(self) -> bool:
        return self.kind == "null" or any(part.kind == "null" for part in self.parts if self.kind == "union")

    def concrete(self) -> Shape:
        """Return the type without null."""
        if self.kind != "union":
            return self
        parts = tuple(part for part in self.parts if part.kind != "null")
        return parts[0] if len(parts) == 1 else replace(self, parts=parts)

    def enum(self) -> tuple[tuple[Any, ...], Shape | None] | None:
        """Return an enum's constants and the type of other values it accepts, if any; None if this is no enum."""
        parts = self.parts if self.kind == "union" else (self,)
        literals = [part for part in parts if part.kind == "literal"]
        others = [part for part in parts if part.kind != "literal"]
        if len(literals) != 1 or len(others) > 1 or any(other.kind not in ("string", "integer") for other in others):
            return None
        return literals[0].values, next(iter(others), None)


@lru_cache(maxsize=4096)
def shape_of(annotation: str) -> Shape:
    """Parse an annotation of the intermediate representation."""
    return _shape(ast.parse(annotation, mode="eval").body)


def _shape(node: ast.expr) -> Shape:
    if isinstance(node, ast.BinOp):
        return _union([*_members(node)])
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        inside = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        return _generic(node.value.id, inside)
    if isinstance(node, ast.Name):
        return _named(node.id)
    if isinstance(node, ast.Constant) and node.value is None:
        return Shape("null")
    raise ValueError(f"There is no rule for the type {ast.unparse(node)}.")


def _members(node: ast.expr) -> Iterator[Shape]:
    if isinstance(node, ast.BinOp):
        yield from _members(node.left)
        yield from _members(node.right)
    else:
        yield _shape(node)


def _union(members: list[Shape]) -> Shape:
    flat = [part for member in members for part in (member.parts if member.kind == "union" else (member,))]
    return Shape("union", parts=tuple(dict.fromkeys(flat)))


def _generic(name: str, inside: list[ast.expr]) -> Shape:
    if name == "Literal":
        return Shape("literal", values=tuple(ast.literal_eval(each) for each in inside))
    if name == "list":
        return Shape("list", parts=(_shape(inside[0]),))
    if name == "dict":
        return Shape("map", parts=(_shape(inside[1]),))
    assert name == "Annotated", name
    found = _shape(inside[0])
    for marker in inside[1:]:
        found = _limited(found, marker)
    return found


def _named(name: str) -> Shape:
    if name == "Any":
        return Shape("any")
    if name in _INTEGERS:
        return Shape("integer", limits=tuple(zip(_BOUNDS, _INTEGERS[name], strict=True)))
    if name in _FORMATS:
        return Shape("string", limits=(("format", _FORMATS[name]),))
    return Shape(_SCALARS[name]) if name in _SCALARS else Shape("ref", name)


def _limited(shape: Shape, marker: ast.expr) -> Shape:
    """Return a shape with the limits of a marker in `Annotated`. Markers of unions have no limits."""
    if not isinstance(marker, ast.Call):
        return shape
    positional = zip(_BOUNDS, (ast.literal_eval(each) for each in marker.args), strict=False)
    named = ((each.arg or "", ast.literal_eval(each.value)) for each in marker.keywords)
    limits = {**dict(shape.limits), **dict(positional), **dict(named)}
    kept = {key: value for key, value in limits.items() if value is not None and (key, value) != _NO_LIMIT}
    return replace(shape, limits=tuple(sorted(kept.items())))
