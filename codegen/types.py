"""Types of JSON values, which render themselves as annotations. `codegen.read.types` makes them from JSON Schema.

Two types are equal if they have the same values, however the schema writes them: an integer of the format `uint8`
equals an integer from 0 to 255.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from codegen.escaping import python_literal

# The ranges of the formats of integers.
RANGES = {
    f"{sign}int{bits}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
# The names of formats and of scalars in Python.
FORMATS = {
    "date-time": "DateTime",
    "regex": "Regex",
    "uri": "Uri",
    "base64": "Base64",
    "double": "Double",
    **{name: name.capitalize() for name in RANGES},
}
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "any": "Any", "null": "None"}
_BOUNDED = {"integer": "Integer", "number": "Number"}


class Enum(NamedTuple):
    """The constants of an enum, and the type of the unlisted values that it accepts; None if it accepts none."""

    values: tuple[Any, ...]
    others: Type | None


@dataclass(frozen=True)
class Type:
    """A type, without the markers for leniency that a field adds.

    Attributes:
        kind: `any`, `null`, `literal`, `array`, `map`, `ref`, `union`, `string`, `integer`, `number` or `boolean`.
        name: the definition that a `ref` refers to.
        values: the constants of a `literal`.
        written_values: these constants as source, because 1 equals True in Python.
        parts: the item of an array, the value of a map, or the members of a union: constants first, null last.
        limits: the limits of the values, sorted by name, including the range of the format.
        format: the format of a scalar.
        stated: the limits that the schema states, without the range of the format.
        refers_to_null: whether the definition that a `ref` refers to allows null.
    """

    kind: str
    name: str = ""
    values: tuple[Any, ...] = field(default=(), compare=False)
    parts: tuple[Type, ...] = ()
    limits: tuple[tuple[str, Any], ...] = ()
    format: str = field(default="", compare=False)
    stated: tuple[tuple[str, Any], ...] = field(default=(), compare=False)
    refers_to_null: bool = field(default=False, compare=False)
    written_values: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "written_values", tuple(map(python_literal, self.values)))

    @property
    def annotation(self) -> str:
        return self._render(markers=True)

    @property
    def hint(self) -> str:
        """The annotation without limits, and without how a member of a union is chosen."""
        return self._render(markers=False)

    @property
    def is_marked(self) -> bool:
        """Whether the annotation is more than the hint."""
        return bool(self._marker) or any(part.is_marked for part in self.parts)

    @property
    def parameter(self) -> str:
        """The hint of a keyword: callers may pass any sequence for a list."""
        inside = [part.parameter for part in self.parts]
        match self.kind:
            case "array":
                return f"Sequence[{inside[0]}]"
            case "map" if "Sequence[" in inside[0]:
                return f"Mapping[str, {inside[0]}]"
            case "union":
                return " | ".join(dict.fromkeys(inside))
            case _:
                return self.hint

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The definitions that it refers to."""
        inside = (name for part in self.parts for name in part.names)
        return (self.name,) if self.kind == "ref" else tuple(dict.fromkeys(inside))

    @property
    def members(self) -> tuple[Type, ...]:
        """The members of a union; only the type itself if it isn't a union."""
        return self.parts if self.kind == "union" else (self,)

    @property
    def nullable(self) -> bool:
        """Whether null is one of its values."""
        is_in_union = self.kind == "union" and any(part.nullable for part in self.parts)
        return self.kind in ("any", "null") or self.refers_to_null or is_in_union

    @property
    def lists_null(self) -> bool:
        """Whether the type itself lists null, not only a definition that it refers to."""
        return NULL in self.members

    @property
    def non_null(self) -> Type:
        """The type without null, unless null is its only value."""
        return self if self.kind != "union" else union_of(part for part in self.parts if part != NULL)

    @property
    def enum(self) -> Enum | None:
        """The type as an enum; None for other types."""
        first, *others = self.members
        if first.kind != "literal" or len(others) > 1 or any(part.kind not in ("string", "integer") for part in others):
            return None
        return Enum(first.values, others[0] if others else None)

    def limit(self, name: str) -> Any:
        return dict(self.limits).get(name)

    def renamed(self, names: Mapping[str, str]) -> Type:
        if not names:
            return self
        return replace(self, name=names.get(self.name, self.name), parts=tuple(p.renamed(names) for p in self.parts))

    def with_any_inside(self, names: Collection[str], *, inside: bool = False) -> Type:
        """Return the type with any JSON instead of these definitions inside its arrays and maps."""
        if inside and self.name in names:
            return ANY
        inside = inside or self.kind in ("array", "map")
        return replace(self, parts=tuple(part.with_any_inside(names, inside=inside) for part in self.parts))

    def unlimited(self) -> Type:
        return replace(self, limits=(), parts=tuple(part.unlimited() for part in self.parts))

    def _render(self, *, markers: bool) -> str:
        parts = [part._render(markers=markers) for part in self.parts]
        match self.kind:
            case "ref":
                text = self.name
            case "literal":
                text = f"Literal[{', '.join(map(python_literal if markers else repr, self.values))}]"
            case "array":
                text = f"list[{parts[0]}]"
            case "map":
                text = f"dict[str, {parts[0]}]"
            case "union":
                text = " | ".join(dict.fromkeys(parts))
            case _:
                text = FORMATS.get(self.format) or _SCALARS[self.kind]
        if not (markers and self._marker):
            return text
        null = " | None" if self.lists_null else ""
        return f"Annotated[{text.removesuffix(null)}, {self._marker}]{null}"

    @property
    def _marker(self) -> str:
        """The limits that the type's name doesn't imply, or how a union's member is chosen."""
        if self.kind in _BOUNDED and (self.stated or not self.format):
            return f"{_BOUNDED[self.kind]}({self.limit('minimum')}, {self.limit('maximum')})"
        if any(value in (0, 1) for value in self.values):
            return "Exact"
        if self.stated:
            return f"Field({', '.join(f'{name}={python_literal(value)}' for name, value in self.stated)})"
        is_choice = len(self.non_null.parts) > 1 and any(part.kind in ("ref", "array") for part in self.parts)
        return "FirstMatch" if is_choice else ""


ANY, NULL = Type("any"), Type("null")


def limited_type(kind: str, format_: str, stated: Mapping[str, Any], *parts: Type) -> Type:
    """Return a scalar or an array, with its format and the limits that the schema states."""
    limits = {**dict(zip(("minimum", "maximum"), RANGES.get(format_, ()), strict=False)), **stated}
    return Type(
        kind,
        parts=parts,
        limits=tuple(sorted(limit for limit in limits.items() if limit != ("min_length", 0))),
        format=format_,
        stated=tuple(stated.items()),
    )


def union_of(members: Iterable[Type]) -> Type:
    """Merge types into one. Constants become one `literal`, which comes first. Null comes last."""
    flat = [part for member in members for part in member.members]
    constants = {
        written: value for part in flat for written, value in zip(part.written_values, part.values, strict=True)
    }
    merged = [Type("literal", values=tuple(constants.values()))] if constants else []
    merged += dict.fromkeys(part for part in flat if not part.values and part != NULL)
    merged += [NULL] if NULL in flat and ANY not in flat else []
    return merged[0] if len(merged) == 1 else Type("union", parts=tuple(merged))
