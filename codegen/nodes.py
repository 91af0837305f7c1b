"""Reading a JSON schema so that nothing in it is overlooked.

A `Node` is a schema object and its JSON pointer. Whoever reads it *takes* its keywords one by one and closes it
at the end; a keyword that nobody took stops the generator. That is how "never guesses and never drops" is kept:
a rule that forgets a keyword fails on the first schema that has it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeGuard, TypeVar

from codegen.errors import SchemaError

Json: TypeAlias = Any
T = TypeVar("T")

REF_PREFIX = "#/$defs/"


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """Whether a value is a JSON object."""
    return isinstance(value, dict)


def is_array(value: Json) -> TypeGuard[list[Json]]:
    """Whether a value is a JSON array."""
    return isinstance(value, list)


def escape(key: str) -> str:
    """A key as one token of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


class Node:
    """One schema object, the pointer it stands at, and the keywords nobody has taken yet."""

    def __init__(self, schema: Json, pointer: str) -> None:
        if not is_object(schema):
            raise SchemaError(pointer, f"Expected a schema object, found {type(schema).__name__}.")
        self.schema: Mapping[str, Json] = schema
        self.pointer = pointer
        self.left = set(schema)

    def __contains__(self, keyword: str) -> bool:
        return keyword in self.schema

    def error(self, message: str, keyword: str = "") -> SchemaError:
        return SchemaError(f"{self.pointer}/{escape(keyword)}" if keyword else self.pointer, message)

    def take(self, keyword: str, kind: type[T] | tuple[type[T], ...], default: T) -> T:
        """The value of a keyword, which must be of a kind, or the default."""
        self.left.discard(keyword)
        if keyword not in self.schema:
            return default
        value = self.schema[keyword]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise self.error(f"The keyword has a {type(value).__name__}, which it can't have.", keyword)
        return value

    def take_flag(self, keyword: str) -> bool:
        """A keyword that is either absent or true. `false` has no meaning upstream, so it stops the generator."""
        value = self.take(keyword, bool, False)
        if keyword in self.schema and not value:
            raise self.error("Found false; this keyword is either true or left out.", keyword)
        return value

    def take_node(self, keyword: str) -> Node:
        self.left.discard(keyword)
        return Node(self.schema[keyword], f"{self.pointer}/{escape(keyword)}")

    def take_list(self, keyword: str) -> list[Node]:
        """The schemas of `anyOf`, `oneOf` or `allOf`."""
        items: Sequence[Json] = self.take(keyword, list, [])
        return [Node(item, f"{self.pointer}/{keyword}/{index}") for index, item in enumerate(items)]

    def take_map(self, keyword: str) -> dict[str, Node]:
        """The schemas of `properties` or `$defs`, in upstream's order."""
        items: Mapping[str, Json] = self.take(keyword, dict, {})
        return {key: Node(item, f"{self.pointer}/{keyword}/{escape(key)}") for key, item in items.items()}

    def take_ref(self) -> str | None:
        """The definition this node refers to, if it is nothing but a reference: `$ref`, or `allOf` with one `$ref`."""
        if "$ref" in self.schema:
            return self._definition_name(self.take("$ref", str, ""), "$ref")
        only = self.schema.get("allOf")
        if is_array(only) and len(only) == 1 and is_object(only[0]) and set(only[0]) == {"$ref"}:
            self.left.discard("allOf")
            return self._definition_name(only[0]["$ref"], "allOf")
        return None

    def _definition_name(self, ref: Json, keyword: str) -> str:
        if not isinstance(ref, str) or not ref.startswith(REF_PREFIX) or "/" in ref[len(REF_PREFIX) :]:
            raise self.error(f"Expected a reference to {REF_PREFIX}<name>, found {ref!r}.", keyword)
        return ref[len(REF_PREFIX) :]

    def close(self) -> None:
        """Nothing may be left that no rule has read."""
        for keyword in sorted(self.left):
            raise self.error(f"The keyword {keyword!r} has no rule here.", keyword)


@contextmanager
def reading(node: Node) -> Generator[Node]:
    """Read a node and close it."""
    yield node
    node.close()
