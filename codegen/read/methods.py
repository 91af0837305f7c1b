"""Reads the methods of a schema: which definitions are their params and results, and what unlocks them.

`x-method` and `x-side` say which method a definition belongs to; the messages at the schema's root say whether it is
a request, a notification or a response. Both must agree. `methods.toml` adds what no schema says.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from acp_runtime.stubs.roles import Handler, Remote
from codegen.errors import FileError, SchemaError
from codegen.ir import Method
from codegen.names import method_name
from codegen.nodes import escape
from codegen.read.canonical import DEPRECATED
from codegen.read.envelopes import Payload
from codegen.read.facts import FactReader
from codegen.read.facts_file import FILE, SHARED, Table, read_facts_file
from codegen.read.proposed_facts import proposed_entry, target_of
from codegen.toml import MEANING

METHODS_TOML = Path(__file__).parents[1] / "methods.toml"
# Returns the entry of a method by its side and its name, or None.
_Entries = Callable[[str, str], dict[str, Any] | None]

_WIRE = re.compile(r"[A-Za-z0-9_$./-]{1,200}")
# The roles that handle the methods of a side, the senders of its requests and notifications, and of its responses.
_HANDLED_BY = {
    "agent": ("agent",),
    "client": ("client",),
    "both": ("agent", "client"),
    "protocol": ("agent", "client"),
    "proxy": ("agent", "client"),
}
SIDES = tuple(_HANDLED_BY)
_SENDERS = {
    "agent": {"Client"},
    "client": {"Agent"},
    "both": {"Agent", "Client"},
    "protocol": {"ProtocolLevel"},
    "proxy": {"Proxy"},
}
_RESPONDERS = {**_SENDERS, "agent": {"Agent"}, "client": {"Client"}}
# Attributes that every handler or proxy inherits.
_INHERITED = frozenset((*dir(Handler), *dir(Remote), "request", "requests", "notify", "notifications"))
# Names that the generated modules and the bases of the roles use already, the latter as `<role>.<name>`.
RESERVED_NAMES = {"PROFILE", "PROTOCOL_VERSION"}.union(
    *({f"{role.upper()}_REQUESTS", f"{role.upper()}_NOTIFICATIONS"} for role in ("agent", "client")),
    *({f"{role}.{name}" for name in _INHERITED} for role in ("agent", "client")),
)
# The message in which each side advertises its capabilities.
ADVERTISED_IN = {"agent": "InitializeResponse", "client": "InitializeRequest"}


class _Part(NamedTuple):
    """The method that a definition belongs to, and its kind there: `request`, `notification` or `response`."""

    side: str
    wire: str
    kind: str


def read_methods(raw: dict[str, Any], payloads: set[Payload], version: str) -> list[Method]:
    """Read every method of a schema, in upstream's order. `version` is the table of `methods.toml`, such as `v1`."""
    return _Reader(raw["$defs"], payloads, partial(entry_of, version), shared_properties(version)).read()


def read_methods_without_facts(raw: dict[str, Any], payloads: set[Payload]) -> list[Method]:
    """Read every method as the schema alone describes it, without `methods.toml`."""
    return _Reader(raw["$defs"], payloads, lambda side, wire: {}, {"session": ""}).read()


class _Reader:
    """Reads the methods of one schema. `properties` are those that all its methods share."""

    def __init__(
        self, definitions: dict[str, Any], payloads: set[Payload], entries: _Entries, properties: dict[str, str]
    ) -> None:
        self._definitions = definitions
        self._entries = entries
        self._properties = properties
        self._parts = _parts(definitions, payloads)
        self._docs = _docs(payloads)
        self._calls = {part: name for part, name in self._parts.items() if part.kind != "response"}
        # How many methods have a Python name: a request and a notification can share one.
        self._names = Counter(method_name(part.wire) for part in self._calls)
        calls = [(part.wire, part.kind == "notification", name) for part, name in self._calls.items()]
        self._facts = FactReader(definitions, properties["session"], calls)

    def read(self) -> list[Method]:
        methods = [self._method(part, params) for part, params in self._calls.items()]
        _check_names(methods)
        return methods

    def _method(self, part: _Part, params: str) -> Method:
        side, wire, kind = part
        doc = self._docs[params] or self._definitions[params].get("description", "")
        is_deprecated = "deprecated" in self._definitions[params] or DEPRECATED in doc.split("\n\n")
        if is_deprecated and DEPRECATED not in doc:
            doc = f"{doc}\n\n{DEPRECATED}"
        entry = self._entries(side, wire)
        if entry is None:
            entry = self._proposed(side, wire, params)
        capability = entry.get("capability")
        if capability is not None:
            _check_path(self._definitions, ADVERTISED_IN[side], capability, wire)
        name = method_name(wire)
        is_notification = kind == "notification"
        has_request = is_notification and _Part(side, wire, "request") in self._parts
        result = None if is_notification else self._parts[_Part(side, wire, "response")]
        return Method(
            wire=wire,
            name=not_inherited(f"{name}_notification" if has_request else name),
            constant=f"{name}_notification".upper() if is_notification and self._names[name] > 1 else name.upper(),
            side=side,
            handled_by=_HANDLED_BY[side],
            params=params,
            result=result,
            doc=doc,
            capability=capability,
            baseline=entry.get("baseline", False),
            content=self._content(side, wire, params, entry),
            offered=entry.get("offered", ""),
            facts=self._facts.read(entry, wire, params, result),
            entry=entry,
            deprecated=is_deprecated,
        )

    def _proposed(self, side: str, wire: str, params: str) -> dict[str, Any]:
        """Return the entry that is proposed for a method without one."""
        doc = f"{self._docs[params]} {self._definitions[params].get('description', '')}"
        message, start = ADVERTISED_IN.get(side, ""), self._properties.get(f"{side}_capabilities", "")
        try:
            return proposed_entry(self._definitions, wire, doc, message, start)
        except ValueError as error:
            raise SchemaError(
                f"/$defs/{params}/x-method",
                f"{FILE} has no entry for the method {wire}, and none can be proposed. {error}",
                next_step=f"Add an entry. {MEANING}",
            ) from error

    def _content(self, side: str, wire: str, params: str, entry: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return the parts of a method's params that need a capability, without those that this schema doesn't have."""
        found: list[tuple[str, str]] = []
        for part, capability in entry.get("content", {}).items():
            field, _, tag = part.partition(".")
            if has_part(self._definitions, params, field, tag):
                _check_path(self._definitions, ADVERTISED_IN[side], capability, f"{wire} with {part}")
                found.append((part, capability))
        return tuple(found)


def _parts(definitions: dict[str, Any], payloads: set[Payload]) -> dict[_Part, str]:
    """Return the names of the definitions that belong to a method. Every message must be complete."""
    parts: dict[_Part, str] = {}
    for name, schema in definitions.items():
        part = _part(name, schema, payloads)
        if part is None:
            continue
        if part in parts:
            raise SchemaError(f"/$defs/{name}", f"{parts[part]} is already the {part.kind} of {part.wire}.")
        parts[part] = name
    _check_complete(parts, payloads, definitions)
    return parts


def _part(name: str, schema: Any, payloads: set[Payload]) -> _Part | None:
    """Return the method and the kind of a definition; None if it belongs to no method."""
    pointer = f"/$defs/{name}"
    wire, side = schema.get("x-method"), schema.get("x-side")
    if wire is None and side is None:
        return None
    if not isinstance(wire, str) or not isinstance(side, str):
        raise SchemaError(pointer, "Expected `x-method` and `x-side` together, both as strings.")
    if side not in _HANDLED_BY:
        raise SchemaError(f"{pointer}/x-side", f"The side {side!r} has no rule; known are {', '.join(_HANDLED_BY)}.")
    if not _WIRE.fullmatch(wire):
        raise SchemaError(
            f"{pointer}/x-method", f"{wire!r} can't be the name of a method; expected words like `fs/read`."
        )
    mine = {payload for payload in payloads if payload.definition == name}
    kinds = {payload.kind for payload in mine}
    if len(kinds) != 1:
        found = " and ".join(f"{each}s" for each in sorted(kinds)) or "none"
        raise SchemaError(
            pointer, f"Expected {name} in either requests, responses or notifications, found it in {found}."
        )
    kind = kinds.pop()
    expected = (_RESPONDERS if kind == "response" else _SENDERS)[side]
    senders = {payload.sender for payload in mine}
    if senders != expected:
        senders_of_side, found = (" and ".join(sorted(each)) for each in (expected, senders))
        raise SchemaError(
            pointer, f"A {kind} of side {side!r} is sent by {senders_of_side}, but it is in messages of {found}."
        )
    return _Part(side, wire, kind)


def _check_complete(parts: dict[_Part, str], payloads: set[Payload], definitions: dict[str, Any]) -> None:
    """Check that requests and responses come in pairs, and that every payload belongs to a method."""
    for (side, wire, kind), name in parts.items():
        other = {"request": "response", "response": "request"}.get(kind)
        if other and _Part(side, wire, other) not in parts:
            raise SchemaError(f"/$defs/{name}", f"The method {wire} has a {kind} but no {other}.")
    for payload in sorted(payloads, key=str):
        schema = definitions.get(payload.definition, {})
        if payload.definition not in parts.values() and set(schema) - {"description"}:
            pointer = f"/$defs/{payload.definition}"
            raise SchemaError(pointer, "A message has this definition, but `x-method` doesn't say which method it is.")


def _check_names(methods: list[Method]) -> None:
    """Check that every method has its own name, in the tables and on each role that handles it."""
    names = dict.fromkeys(RESERVED_NAMES, "something else")
    for method in methods:
        pointer = f"/$defs/{method.params}/x-method"
        if keyword.iskeyword(method.name) or not method.name.isidentifier():
            raise SchemaError(pointer, f"{method.wire!r} gives {method.name!r}, which can't be the name of a method.")
        for name in (method.constant, *(f"{role}.{method.name}" for role in method.handled_by)):
            if name in names:
                raise SchemaError(pointer, f"{method.wire!r} gives the name {name}, which {names[name]} has already.")
            names[name] = f"{method.wire!r}"


def _docs(payloads: set[Payload]) -> dict[str, str]:
    """Return upstream's descriptions of the methods by their params. A method of both sides may have two."""
    found: dict[str, dict[str, None]] = {}
    for payload in sorted(payloads, key=str):
        if payload.kind != "response":
            found.setdefault(payload.definition, {})[payload.doc] = None
    return {name: "\n\n".join(filter(None, texts)) for name, texts in found.items()}


def not_inherited(name: str) -> str:
    """Return a method's name, with an underscore added if a public attribute of the bases has it, as fields get one."""
    return f"{name}_" if name in _INHERITED and not name.startswith("_") else name


def shared_properties(version: str) -> dict[str, str]:
    """Return the table `[<version>.properties]` of `methods.toml`."""
    found: dict[str, str] | None = _table().get(version, {}).get(SHARED)
    if found is None:
        raise FileError("", f"{FILE} [{version}.{SHARED}]: The table is missing. Add it. {MEANING}")
    return found


def entry_of(version: str, side: str, wire: str) -> dict[str, Any] | None:
    """Return the entry of a method in `methods.toml`; None if it has none."""
    return _table().get(version, {}).get(side, {}).get(wire)


def _table() -> Table:
    return read_facts_file(METHODS_TOML)


def has_part(definitions: dict[str, Any], params: str, field: str, tag: str) -> bool:
    """Return whether params have a field whose items, or whether the params themselves, have a variant of this tag."""
    schema = definitions[params]
    own = schema.get("properties", {}).get(field)
    if own is None:
        return tag in _tags(schema, field)
    items = definitions.get(target_of(own.get("items", {})) or "", {})
    return not tag or tag in _tags(items, "type")


def _tags(union: Any, field: str) -> set[str]:
    variants = (*union.get("oneOf", ()), *union.get("anyOf", ()))
    return {variant.get("properties", {}).get(field, {}).get("const") for variant in variants} - {None}


def _check_path(definitions: dict[str, Any], start: str, path: str, wire: str) -> None:
    """Check that every step of a capability's path is a property in this schema."""
    name: str | None = start
    pointer = f"/$defs/{start}"
    for step in path.split("."):
        properties = definitions.get(name or "", {}).get("properties", {})
        if step not in properties:
            raise SchemaError(
                pointer,
                f"{FILE} says that {wire} needs {path}, but there is no {step!r} here.",
                next_step="Correct the path in that file.",
            )
        name = target_of(properties[step])
        pointer = f"/$defs/{name}" if name else f"{pointer}/properties/{escape(step)}"
