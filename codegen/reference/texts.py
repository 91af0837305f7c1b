"""Writes types and descriptions as Markdown."""

from __future__ import annotations

import json

from codegen.escaping import code, markdown
from codegen.ir import Field
from codegen.read.docs import drop_unstable_notice
from codegen.types import Type


class TypeTexts:
    """Writes types in words. Types with a section are links."""

    def __init__(self, targets: dict[str, str]) -> None:
        self._targets = targets

    def link(self, name: str) -> str:
        return f"[`{name}`]({self._targets[name]})" if name in self._targets else f"`{name}`"

    def write(self, type_: Type) -> str:
        """Return a type in words."""
        match type_.kind:
            case "ref":
                return self.link(type_.name)
            case "literal":
                return " or ".join(code(json.dumps(value)) for value in type_.values)
            case "array":
                return f"array of {self._write_item(type_.parts[0])}"
            case "map":
                inner = type_.parts[0]
                return "object" if inner.kind in ("any", "union") else f"object with values of type {self.write(inner)}"
            case "union":
                return " or ".join(self.write(part) for part in type_.parts)
            case kind:
                return ", ".join(("any JSON" if kind == "any" else kind, *_write_limits(type_)))

    def write_alias(self, type_: Type, doc: str) -> str:
        """Return a sentence about the type of an alias. Values that its description lists are left out."""
        values, others = type_.enum or ((), None)
        if not values:
            return f"Type: {self.write(type_)}."
        names = [code(str(value)) for value in values]
        known = "" if all(f"- {name}: " in doc for name in names) else f"One of {', '.join(names)}. "
        return known + (f"Any other {others.kind} is also valid." if others else "")

    def _write_item(self, type_: Type) -> str:
        text = self.write(type_)
        return f"({text})" if type_.kind == "union" else text


def _write_limits(type_: Type) -> list[str]:
    """Return the limits of a scalar in words, without the ranges of the usual integers."""
    return [
        f"{name.replace('_', ' ')} {code(str(value))}"
        for name, value in type_.limits
        if not (isinstance(value, int) and (value >= 2**16 - 1 or value <= 0))
    ]


def presence(field: Field) -> str:
    """Return whether a field is required, or its default. Defaults that are objects are left out."""
    if field.required:
        return "required"
    return "optional" if field.default is None or field.factory else f"default {code(json.dumps(field.default))}"


def description(text: str) -> str:
    """Return a description as Markdown. The descriptions of members at its end become a list.

    A paragraph after a member's description belongs to that member.
    """
    parts: list[str] = []
    for part in text.strip().split("\n\n"):
        is_member = _is_member(part)
        is_inside = is_member or (bool(parts) and parts[-1].startswith(("- `", "  ")))
        indented = ("- " if is_member else "  ") + part.replace("\n", "\n  ")
        parts.append(indented if is_inside else part)
    return markdown("\n\n".join(parts))


def first_sentence(text: str) -> str:
    """Return the first sentence of a description on one line."""
    line = " ".join(drop_unstable_notice(text).strip().split("\n\n")[0].split())
    return markdown(line.split(". ")[0].rstrip(".:") + ".") if line else ""


def _is_member(part: str) -> bool:
    return part.startswith("`") and "`: " in part.partition("\n")[0]
