"""Reads JSON Schema objects so that no keyword is overlooked.

A `Node` is a schema object with its JSON pointer. A reader *takes* its keywords one by one, and closes the node at the
end. A keyword that was not taken stops the generator, so nothing is dropped silently. `codegen.read.vocabulary` has
already checked the form of every schema object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard, TypeVar

from codegen.errors import SchemaError

Json: TypeAlias = Any
T = TypeVar("T")

REF_PREFIX = "#/$defs/"


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """Return whether a value is a JSON object."""
    return isinstance(value, dict)


def is_array(value: Json) -> TypeGuard[list[Json]]:
    """Return whether a value is a JSON array."""
    return isinstance(value, list)


def escape(key: str) -> str:
    """Escape a key as one token of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


class Node:
    """A schema object, its JSON pointer, and the keywords that have not been taken yet."""

    def __init__(self, schema: Json, pointer: str) -> None:
        self.schema: Mapping[str, Json] = schema
        self.pointer = pointer
        self.untaken = set(schema) - {"deprecated"}  # its description says so, too

    def __contains__(self, keyword: str) -> bool:
        return keyword in self.schema

    def error(self, message: str, keyword: str = "", next_step: str = "") -> SchemaError:
        pointer = f"{self.pointer}/{escape(keyword)}" if keyword else self.pointer
        return SchemaError(pointer, message, next_step=next_step)

    def take(self, keyword: str, kind: type[T] | tuple[type[T], ...], default: T) -> T:
        """Take a keyword and return its value, or the default if it is missing. The value must be a `kind`."""
        self.untaken.discard(keyword)
        if keyword not in self.schema:
            return default
        value = self.schema[keyword]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise self.error(f"The value of {keyword!r} can't be a {type(value).__name__}.", keyword)
        return value

    def take_flag(self, keyword: str) -> bool:
        """Take a keyword that is true or missing."""
        return self.take(keyword, bool, False)

    def take_node(self, keyword: str) -> Node:
        self.untaken.discard(keyword)
        return Node(self.schema[keyword], f"{self.pointer}/{escape(keyword)}")

    def take_list(self, keyword: str) -> list[Node]:
        """Take the schemas of `anyOf`, `oneOf` or `allOf`."""
        items: Sequence[Json] = self.take(keyword, list, [])
        return [Node(item, f"{self.pointer}/{keyword}/{index}") for index, item in enumerate(items)]

    def take_map(self, keyword: str) -> dict[str, Node]:
        """Take the schemas of `properties` or `$defs`, in upstream's order."""
        items: Mapping[str, Json] = self.take(keyword, dict, {})
        return {key: Node(item, f"{self.pointer}/{keyword}/{escape(key)}") for key, item in items.items()}

    def take_ref(self) -> str | None:
        """Take a reference, `$ref` or `allOf` with one `$ref`, and return the definition's name, or None."""
        if "$ref" in self.schema:
            return self._definition_name(self.take("$ref", str, ""), "$ref")
        parts = self.schema.get("allOf")
        if is_array(parts) and len(parts) == 1 and is_object(parts[0]) and set(parts[0]) == {"$ref"}:
            self.untaken.discard("allOf")
            return self._definition_name(parts[0]["$ref"], "allOf")
        return None

    def _definition_name(self, ref: Json, keyword: str) -> str:
        if not isinstance(ref, str) or not ref.startswith(REF_PREFIX) or "/" in ref[len(REF_PREFIX) :]:
            raise self.error(f"Expected a reference to {REF_PREFIX}<name>, found {ref!r}.", keyword)
        return ref[len(REF_PREFIX) :]

    def close(self) -> None:
        """Stop the generator if a keyword was not taken."""
        for keyword in sorted(self.untaken):
            raise self.error(f"The keyword {keyword!r} has no rule here.", keyword)
