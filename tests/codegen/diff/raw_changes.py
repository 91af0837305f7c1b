"""An independent, simple comparison of two JSON schemas: which places changed. It knows none of the report's rules.

Union members are matched by title, constant or reference. A change of `required` counts as a change of the property.
The order of lists is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from codegen.diff.sources import Snapshot
from codegen.diff.verdict.findings import Finding
from codegen.nodes import escape

_DESCRIPTIVE = {"description", "x-docs-ignore"}
# Without meaning: the constants say which property is the tag.
_WITHOUT_MEANING = {"discriminator"}
_MAPS = {"properties", "$defs"}


@dataclass(frozen=True)
class Change:
    """A place that changed, by its JSON pointer on each side; empty if it isn't there."""

    old: str
    new: str
    only_docs: bool = False


def changes(old: Any, new: Any, before: str = "", after: str = "", *, names: bool = False) -> Iterator[Change]:
    """Yield every change between two documents, at the deepest place. `names`: the keys are names, not keywords."""
    old, new = (_unwrap(value) for value in (old, new))
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _objects(old, new, before, after, names)
    elif (
        isinstance(old, list)
        and isinstance(new, list)
        and all(isinstance(definition, dict) for definition in (*old, *new))
    ):
        yield from _members(old, new, before, after)
    elif old != new and not (isinstance(old, list) and isinstance(new, list) and _same(old, new)):
        yield Change(before, after)


def _unwrap(schema: Any) -> Any:
    """Return a schema with a reference instead of `allOf` with one."""
    parts = schema.get("allOf") if isinstance(schema, dict) else None
    if not isinstance(parts, list) or len(parts) != 1:
        return schema
    return {key: value for key, value in schema.items() if key != "allOf"} | parts[0]


def _same(old: list[Any], new: list[Any]) -> bool:
    return sorted(map(str, old)) == sorted(map(str, new))


def _objects(old: Any, new: Any, before: str, after: str, names: bool) -> Iterator[Change]:
    for key in [key for key in {**old, **new} if names or key not in _WITHOUT_MEANING]:
        left, right = f"{before}/{escape(key)}", f"{after}/{escape(key)}"
        if not names and key in _DESCRIPTIVE:
            if old.get(key) != new.get(key):
                yield Change(left, right, only_docs=True)
        elif not names and key == "required":
            yield from _required(old, new, before, after)
        elif key not in old:
            yield Change("", right)
        elif key not in new:
            yield Change(left, "")
        else:
            yield from changes(old[key], new[key], left, right, names=not names and key in _MAPS)


def _required(old: Any, new: Any, before: str, after: str) -> Iterator[Change]:
    """Yield the properties that became required or optional, without new and removed ones."""
    for name in sorted(set(old.get("required", ())) ^ set(new.get("required", ()))):
        if name in old.get("properties", {}) and name in new.get("properties", {}):
            yield Change(*(f"{place}/properties/{escape(name)}" for place in (before, after)))


def _members(old: list[Any], new: list[Any], before: str, after: str) -> Iterator[Change]:
    left, right = _by_identity(old), _by_identity(new)
    for key in {**left, **right}:
        if key not in left:
            yield Change("", f"{after}/{right[key]}")
        elif key not in right:
            yield Change(f"{before}/{left[key]}", "")
        else:
            i, j = left[key], right[key]
            yield from changes(old[i], new[j], f"{before}/{i}", f"{after}/{j}")


def _by_identity(members: list[Any]) -> dict[str, int]:
    result: dict[str, int] = {}
    for index, member in enumerate(members):
        identity = _identity(member)
        result[identity if identity not in result else f"{identity} {index}"] = index
    return result


def _identity(member: Any) -> str:
    """Return a text that identifies a member of a union."""
    constants = [
        f"{key}={schema['const']}" for key, schema in sorted(member.get("properties", {}).items()) if "const" in schema
    ]
    refs = [part["$ref"] for part in (member, *member.get("allOf", ())) if "$ref" in part]
    own = [str(member[key]) for key in ("title", "const") if key in member]
    return " ".join(own[:1] or constants[:1] or refs or [str(member.get("type"))])


@dataclass(frozen=True)
class Places:
    """The pointers on each side that change with a finding, besides its own."""

    old: list[str]
    new: list[str]


def places(finding: Finding, old: Snapshot, new: Snapshot) -> Places:
    return Places(list(_follows(finding, old)), list(_follows(finding, new)))


def covers(finding: Finding, following: Places, change: Change) -> bool:
    """Return whether a finding is about the changed place, about one that contains it, or the reason for its change."""
    return any(
        place and (pointer == place or pointer.startswith(f"{place}/"))
        for pointer, others in ((change.old, following.old), (change.new, following.new))
        for place in (
            *(place.old_pointer for place in finding.places),
            *(place.new_pointer for place in finding.places),
            *others,
        )
    )


def _follows(finding: Finding, snapshot: Snapshot) -> Iterator[str]:
    """Yield the pointers that change with a finding: references to its definition, and tags that are excluded."""
    raw, renamed = snapshot.raw, finding.renamed
    if finding.rule == "definition-renamed" and renamed:
        names = (renamed.old, renamed.new)
        yield from (place.removesuffix("/allOf/0") for target, place in _references(raw, "") if target in names)
    if finding.rule.startswith("method-"):
        wires = (finding.place, *finding.methods)
        names = {
            name
            for method in snapshot.schema.methods
            if method.wire in wires
            for name in (method.params, method.result)
        }
        yield from (f"/$defs/{name}" for name in names)
        yield from (place.removesuffix("/allOf/0") for target, place in _references(raw, "") if target in names)
    if finding.rule.startswith("union-"):
        union = raw["$defs"].get(finding.place, {})
        yield from (
            f"/$defs/{finding.place}/{keyword}/{index}/not"
            for keyword in ("anyOf", "oneOf")
            for index, _ in enumerate(union.get(keyword, ()))
        )


def _references(schema: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """Yield every reference in a schema: its target, and its place."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix("#/$defs/"), pointer
        for key, value in schema.items():
            yield from _references(value, f"{pointer}/{escape(key)}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from _references(value, f"{pointer}/{index}")
