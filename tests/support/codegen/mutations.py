"""Small changes to a JSON schema that have a meaning, so the generator must not ignore them.

An *operator* takes one schema object and yields changed copies of it. `mutations` applies every operator at every
place of a schema; `sample` picks one of each kind, always the same ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from codegen.nodes import escape
from tests.support.codegen.build import Schema
from tests.support.models.validity import INTEGER_RANGES

Path = tuple[str | int, ...]
Operator = Callable[[Schema], Iterator[tuple[str, Schema]]]

LENIENCY = ("x-deserialize-default-on-error", "x-deserialize-default-on-null", "x-deserialize-skip-invalid-items")
_OTHER_FORMAT = {"int32": "int64", "uint16": "uint8", "double": "int32", "date-time": "uri", "regex": "uri"}
_OTHER_SIDE = {"agent": "client", "client": "both", "both": "agent", "protocol": "proxy"}
_VARIANTS = ("anyOf", "oneOf")
# In these places the order has no meaning: the messages at the root, and the tags that a member excludes.
MEANS_NOTHING = {("reverse anyOf", "root"), ("reverse anyOf", "not")}


@dataclass(frozen=True)
class Mutation:
    """One change: its kind, the kind of place and the pointer, and a function that makes the changed schema."""

    kind: str
    place: str
    pointer: str
    make: Callable[[], Schema]

    @property
    def schema(self) -> Schema:
        return self.make()

    @property
    def id(self) -> str:
        return f"{self.kind} of a {self.place} at {self.pointer}"


def mutations(schema: Schema) -> Iterator[Mutation]:
    """Yield every mutation of a schema."""
    for path, place in _places(schema, (), "root"):
        node, pointer = at(schema, path), _pointer(path)
        for operator in OPERATORS:
            for kind, changed in operator(node):
                if changed == node or (kind, place) in MEANS_NOTHING:
                    continue
                if _is_in_description(kind, node) or _is_inherited(kind, node, schema) or _is_implied(kind, node):
                    continue
                yield Mutation(kind, place, pointer, partial(replaced, schema, path, changed))
    yield from _of_definitions(schema)


def sample(schema: Schema, variation: int, parts: int = 2) -> list[Mutation]:
    """Return one mutation each of some kinds. A variation picks the kinds, the kind of place and the place.

    Any `parts` consecutive variations together have every kind.
    """
    kinds: dict[str, dict[str, list[Mutation]]] = defaultdict(lambda: defaultdict(list))
    for mutation in mutations(schema):
        if (sum(map(ord, mutation.kind)) + variation) % parts == 1:
            kinds[mutation.kind][mutation.place].append(mutation)
    chosen = [[*places.values()][variation % len(places)] for places in kinds.values()]
    return [group[(variation + 1) * 7919 % len(group)] for group in chosen]


def _is_in_description(kind: str, node: Schema) -> bool:
    """Return whether the description, which is in the output, begins with the dropped title."""
    return kind in ("drop title", "rename title") and node.get("description", "").startswith(f"**{node['title']}**")


def _is_implied(kind: str, node: Schema) -> bool:
    """Return whether the format implies a dropped limit."""
    name = kind.removeprefix("drop ").removeprefix("rename ")
    limits = INTEGER_RANGES.get(str(node.get("format")))
    return limits is not None and node.get(name) == dict(zip(("minimum", "maximum"), limits, strict=True)).get(name, "")


def _is_inherited(kind: str, node: Schema, schema: Schema) -> bool:
    """Return whether the base class has the dropped description, so that it is still in the output."""
    if kind not in ("drop description", "rename description"):
        return False
    refs = [part["$ref"].rpartition("/")[2] for part in node.get("allOf", []) if "$ref" in part]
    return any(schema["$defs"].get(ref, {}).get("description") == node["description"] for ref in refs)


def _drop_keyword(node: Schema) -> Iterator[tuple[str, Schema]]:
    for keyword in node:
        if keyword not in ("properties", "$defs", *_VARIANTS):
            yield f"drop {keyword}", {key: value for key, value in node.items() if key != keyword}


def _rename_keyword(node: Schema) -> Iterator[tuple[str, Schema]]:
    for keyword in node:
        yield f"rename {keyword}", {(f"{key}s" if key == keyword else key): value for key, value in node.items()}
    for keyword, other in (("anyOf", "oneOf"), ("oneOf", "anyOf")):
        if keyword in node:
            yield f"{keyword} to {other}", {(other if key == keyword else key): value for key, value in node.items()}


def _add_keyword(node: Schema) -> Iterator[tuple[str, Schema]]:
    for keyword in ("x-new", "deprecated", "const", "enum", "readOnly", "if", "$comment", "examples", "maxProperties"):
        if keyword not in node:
            yield f"add {keyword}", {**node, keyword: True}
    for keyword in LENIENCY:
        if keyword not in node:
            yield f"add {keyword}", {**node, keyword: True}
    for keyword in ("title", "description", "format", "pattern"):
        if keyword not in node:
            yield f"add {keyword}", {**node, keyword: "new"}
    for keyword, kind in (("minimum", "integer"), ("minLength", "string"), ("minItems", "array")):
        if keyword not in node and kind in _types(node):
            yield f"add {keyword}", {**node, keyword: 1}
    if "default" not in node and "boolean" in _types(node):
        yield "add default", {**node, "default": True}


def _change_text(node: Schema) -> Iterator[tuple[str, Schema]]:
    for keyword in ("title", "description", "x-method", "pattern", "const", "default"):
        if isinstance(node.get(keyword), str):
            yield f"change {keyword}", {**node, keyword: f"{node[keyword]} changed"}
    for keyword, others in (("format", _OTHER_FORMAT), ("x-side", _OTHER_SIDE)):
        if keyword in node:
            yield f"change {keyword}", {**node, keyword: others.get(node[keyword], "other")}
    if "$ref" in node:
        yield "ref to nowhere", {**node, "$ref": f"{node['$ref']}Gone"}
        yield "ref elsewhere", {**node, "$ref": "#/$defs/Error"}


def _change_value(node: Schema) -> Iterator[tuple[str, Schema]]:
    for keyword in ("minimum", "maximum", "minLength", "minItems", "const"):
        if isinstance(node.get(keyword), (int, float)):
            yield f"change {keyword}", {**node, keyword: node[keyword] + 1}
    if isinstance(node.get("default"), bool):
        yield "change default", {**node, "default": not node["default"]}
    if isinstance(node.get("default"), dict):
        yield "change default", {**node, "default": {**node["default"], "new": 1}}
        for key in node["default"]:
            yield "drop part of default", {**node, "default": _without(node["default"], key)}
    for keyword in (*LENIENCY, "x-docs-ignore", "additionalProperties", "unevaluatedProperties"):
        if node.get(keyword) is True:
            yield f"falsify {keyword}", {**node, keyword: False}
    if "additionalProperties" in node:
        yield "change additionalProperties", {**node, "additionalProperties": {"type": "string"}}


def _change_type(node: Schema) -> Iterator[tuple[str, Schema]]:
    declared = node.get("type")
    if isinstance(declared, str):
        yield "nullable", {**node, "type": [declared, "null"]}
        yield "change type", {**node, "type": {"string": "boolean", "object": "array"}.get(declared, "string")}
    if isinstance(declared, list):
        yield "not nullable", {**node, "type": declared[0]}
        yield "two types", {**node, "type": [*declared, "number"]}


def _change_lists(node: Schema) -> Iterator[tuple[str, Schema]]:
    for keyword in ("required", "enum", *_VARIANTS):
        items = node.get(keyword, [])
        for index, item in enumerate(items):
            yield f"drop from {keyword}", {**node, keyword: items[:index] + items[index + 1 :]}
            yield f"twice in {keyword}", {**node, keyword: [*items, item]}
        if len(items) - ({"type": "null"} in items) > 1 and keyword != "required":
            yield f"reverse {keyword}", {**node, keyword: items[::-1]}
    for key in node.get("properties", {}):
        if key not in node.get("required", []):
            yield "add to required", {**node, "required": [*node.get("required", []), key]}


def _change_properties(node: Schema) -> Iterator[tuple[str, Schema]]:
    properties: Schema = node.get("properties", {})
    for key in properties:
        yield "drop property", {**node, "properties": _without(properties, key)}
        renamed = {(f"{name}Renamed" if name == key else name): value for name, value in properties.items()}
        yield "rename property", {**node, "properties": renamed}
    if properties:
        yield "add property", {**node, "properties": {**properties, "brandNew": {"type": "string"}}}


OPERATORS: tuple[Operator, ...] = (
    _drop_keyword,
    _rename_keyword,
    _add_keyword,
    _change_text,
    _change_value,
    _change_type,
    _change_lists,
    _change_properties,
)


def _of_definitions(schema: Schema) -> Iterator[Mutation]:
    definitions: Schema = schema["$defs"]
    for name in definitions:
        pointer = f"/$defs/{name}"
        for kind, changed in (
            ("drop definition", _without(definitions, name)),
            ("duplicate definition", {**definitions, f"{name}Copy": definitions[name]}),
            ("rename definition", {(f"{key}New" if key == name else key): value for key, value in definitions.items()}),
        ):
            yield Mutation(kind, "definition", pointer, partial(replaced, schema, ("$defs",), changed))


def _places(node: Any, path: Path, place: str) -> Iterator[tuple[Path, str]]:
    """Yield the path of every schema object and its kind of place."""
    if not isinstance(node, dict):
        return
    yield path, place
    for keyword, name in (("properties", "property"), ("$defs", "definition")):
        for key, member in node.get(keyword, {}).items():
            yield from _places(member, (*path, keyword, key), "message property" if path[:1] == ("anyOf",) else name)
    for keyword in (*_VARIANTS, "allOf"):
        for index, member in enumerate(node.get(keyword, [])):
            is_root = path[:1] != ("$defs",)
            kind = (
                "message"
                if is_root
                else "reference"
                if keyword == "allOf"
                else f"{place} member".replace(" member" * 2, " member")
            )
            yield from _places(member, (*path, keyword, index), kind)
    for keyword in ("items", "not", "additionalProperties"):
        yield from _places(node.get(keyword), (*path, keyword), keyword)


def _types(node: Schema) -> list[str]:
    declared = node.get("type", [])
    return [declared] if isinstance(declared, str) else list(declared)


def _without(items: Schema, key: str) -> Schema:
    return {name: value for name, value in items.items() if name != key}


def at(node: Any, path: Sequence[str | int]) -> Any:
    """Return the value at a path."""
    for key in path:
        node = node[key]
    return node


def replaced(node: Any, path: Sequence[str | int], changed: Any) -> Any:
    """Return a copy with another value at a path. Values beside the path are shared."""
    if not path:
        return changed
    key, *rest = path
    copy = node.copy()
    copy[key] = replaced(node[key], rest, changed) if rest else changed
    return copy


def _pointer(path: Path) -> str:
    return "".join(f"/{escape(str(key))}" for key in path)
