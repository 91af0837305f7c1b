"""The methods of a schema: which definition is whose params or result, and what unlocks each.

`x-method` and `x-side` say which method a definition belongs to; the messages of the schema's root say whether it
is a request, a notification or a result. Both must agree. `methods.toml` adds what no schema says.
"""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from acp_runtime.stubs.roles import Handler, Remote
from codegen.errors import FileError, SchemaError
from codegen.ir import Method
from codegen.names import method_name
from codegen.nodes import escape
from codegen.read.envelopes import Payload
from codegen.read.facts import FactReader
from codegen.read.facts_file import MEANING, SHARED, Table, read_facts_file

METHODS_TOML = Path(__file__).parents[1] / "methods.toml"
FILE = "codegen/methods.toml"
# What the file says of a method, by its side, its name and the pointer for an error.
_DataOf = Callable[[str, str, str], dict[str, Any]]

# Who handles a method of each side, and who sends its requests and notifications.
_HANDLED_BY = {
    "agent": ("agent",),
    "client": ("client",),
    "both": ("agent", "client"),
    "protocol": ("agent", "client"),
    "proxy": ("agent", "client"),
}
_SENDERS = {
    "agent": {"Client"},
    "client": {"Agent"},
    "both": {"Agent", "Client"},
    "protocol": {"ProtocolLevel"},
    "proxy": {"Proxy"},
}
_RESPONDERS = {**_SENDERS, "agent": {"Agent"}, "client": {"Client"}}
# What every handler and every proxy has already.
_INHERITED = frozenset((*dir(Handler), *dir(Remote), "request", "requests", "notify", "notifications"))
# Names that the generated modules and the bases of the roles use for other things.
_RESERVED = {"PROFILE", "PROTOCOL_VERSION"}.union(
    *({f"{role.upper()}_REQUESTS", f"{role.upper()}_NOTIFICATIONS"} for role in ("agent", "client")),
    *({f"{role}.{name}" for name in _INHERITED} for role in ("agent", "client")),
)
# Whose `initialize` message tells what a side can do.
ADVERTISED_IN = {"agent": "InitializeResponse", "client": "InitializeRequest"}


def read_methods(raw: dict[str, Any], payloads: set[Payload], version: str) -> list[Method]:
    """Every method of a schema, in upstream's order. `version` is the table of `methods.toml`, such as `v1`."""
    return _read(raw, payloads, partial(_data, version), shared_properties(version)["session"])


def read_methods_without_facts(raw: dict[str, Any], payloads: set[Payload]) -> list[Method]:
    """Every method as the schema alone describes it, without what `methods.toml` adds."""
    return _read(raw, payloads, lambda side, wire, pointer: {}, "")


def _read(raw: dict[str, Any], payloads: set[Payload], data_of: _DataOf, session: str) -> list[Method]:
    parts: dict[tuple[str, str, str], str] = {}
    for name, schema in raw["$defs"].items():
        key = _method_of(name, schema, payloads)
        if key is None:
            continue
        if key in parts:
            raise SchemaError(f"/$defs/{name}", f"{parts[key]} is already the {key[2]} of {key[1]}.")
        parts[key] = name
    _check_complete(parts, payloads, raw)
    kinds = Counter(method_name(wire) for _, wire, kind in parts if kind != "response")
    said = _said(payloads)
    kinds_of = [(wire, kind == "notification", name) for (_, wire, kind), name in parts.items() if kind != "response"]
    reader = FactReader(raw["$defs"], session, kinds_of)
    methods = [
        _method(raw, data_of, reader, side, wire, kind, name, parts, kinds, said)
        for (side, wire, kind), name in parts.items()
        if kind != "response"
    ]
    _check_names(methods)
    return methods


def _check_names(methods: list[Method]) -> None:
    """Every method has a name of its own: in the tables, and on each role that handles it."""
    names = dict.fromkeys(_RESERVED, "something else")
    for method in methods:
        pointer = f"/$defs/{method.params}/x-method"
        if keyword.iskeyword(method.name) or not method.name.isidentifier():
            raise SchemaError(pointer, f"{method.wire!r} gives {method.name!r}, which can't be the name of a method.")
        for name in (method.constant, *(f"{role}.{method.name}" for role in method.handled_by)):
            if name in names:
                raise SchemaError(pointer, f"{method.wire!r} gives the name {name}, which is that of {names[name]}.")
            names[name] = f"{method.wire!r}"


def _method_of(name: str, schema: Any, payloads: set[Payload]) -> tuple[str, str, str] | None:
    """The side, method and kind of a definition, if it belongs to a method."""
    pointer = f"/$defs/{name}"
    wire, side = schema.get("x-method"), schema.get("x-side")
    if wire is None and side is None:
        return None
    if not isinstance(wire, str) or not isinstance(side, str):
        raise SchemaError(pointer, "`x-method` and `x-side` come together, both as strings.")
    if side not in _HANDLED_BY:
        raise SchemaError(f"{pointer}/x-side", f"The side {side!r} has no rule; known are {', '.join(_HANDLED_BY)}.")
    mine = {payload for payload in payloads if payload.definition == name}
    kinds = {payload.kind for payload in mine}
    if len(kinds) != 1:
        raise SchemaError(pointer, f"Expected it in the messages of one kind, found {sorted(kinds) or 'it in none'}.")
    kind = kinds.pop()
    expected = (_RESPONDERS if kind == "response" else _SENDERS)[side]
    senders = {payload.sender for payload in mine}
    if senders != expected:
        raise SchemaError(
            pointer, f"Side {side!r} says that it is sent by {sorted(expected)}, the messages say {sorted(senders)}."
        )
    return side, wire, kind


def _check_complete(parts: dict[tuple[str, str, str], str], payloads: set[Payload], raw: dict[str, Any]) -> None:
    for (side, wire, kind), name in parts.items():
        other = {"request": "response", "response": "request"}.get(kind)
        if other and (side, wire, other) not in parts:
            raise SchemaError(f"/$defs/{name}", f"The method {wire} has a {kind} and no {other}.")
    for payload in sorted(payloads, key=str):
        schema = raw["$defs"].get(payload.definition, {})
        if payload.definition not in parts.values() and set(schema) - {"description"}:
            raise SchemaError(f"/$defs/{payload.definition}", "It is in a message, but no `x-method` says of which.")


def _method(
    raw: dict[str, Any],
    data_of: _DataOf,
    reader: FactReader,
    side: str,
    wire: str,
    kind: str,
    params: str,
    parts: dict[tuple[str, str, str], str],
    kinds: Counter[str],
    said: dict[str, str],
) -> Method:
    data = data_of(side, wire, f"/$defs/{params}/x-method")
    capability = data.get("capability")
    if capability is not None:
        _check_path(raw["$defs"], ADVERTISED_IN[side], capability, wire)
    name = method_name(wire)
    is_notification = kind == "notification"
    twice = is_notification and (side, wire, "request") in parts
    result = None if is_notification else parts[side, wire, "response"]
    return Method(
        wire=wire,
        name=_free(f"{name}_notification" if twice else name),
        constant=f"{name}_notification".upper() if is_notification and kinds[name] > 1 else name.upper(),
        side=side,
        handled_by=_HANDLED_BY[side],
        params=params,
        result=result,
        doc=said[params] or raw["$defs"][params].get("description", ""),
        capability=capability,
        baseline=data.get("baseline", False),
        content=_content(raw["$defs"], side, wire, params, data),
        offered=data.get("offered", ""),
        facts=reader.read(data, wire, params, result),
        entry=data,
    )


def _said(payloads: set[Payload]) -> dict[str, str]:
    """What upstream says of each method, by its params. A method that both sides send may be described twice."""
    found: dict[str, dict[str, None]] = {}
    for payload in sorted(payloads, key=str):
        if payload.kind != "response":
            found.setdefault(payload.definition, {})[payload.doc] = None
    return {name: "\n\n".join(filter(None, texts)) for name, texts in found.items()}


def _free(name: str) -> str:
    """A method that would be called like a public attribute of its base gets a trailing underscore, as fields do."""
    return f"{name}_" if name in _INHERITED and not name.startswith("_") else name


def shared_properties(version: str) -> dict[str, str]:
    """What `methods.toml` says of a version as a whole: the properties that its methods have in common."""
    found: dict[str, str] | None = _table().get(version, {}).get(SHARED)
    if found is None:
        raise FileError("", f"{FILE} [{version}.{SHARED}]: The table is missing. Add it. {MEANING}")
    return found


def _data(version: str, side: str, wire: str, pointer: str) -> dict[str, Any]:
    """What `methods.toml` says of a method."""
    found = entry_of(version, side, wire)
    if found is None:
        place = f"{FILE} [{version}.{side}]"
        raise SchemaError(
            pointer,
            f"The method {wire} is neither baseline nor mapped to what unlocks it.",
            then=f"Add it to {place}.",
        )
    return found


def entry_of(version: str, side: str, wire: str) -> dict[str, Any] | None:
    """The line of a method in `methods.toml`, if it has one."""
    return _table().get(version, {}).get(side, {}).get(wire)


def _table() -> Table:
    return read_facts_file(METHODS_TOML, _HANDLED_BY, ADVERTISED_IN)


def _content(
    definitions: dict[str, Any], side: str, wire: str, params: str, data: dict[str, Any]
) -> tuple[tuple[str, str], ...]:
    """What in a method's params needs a capability of its own. Parts that this schema doesn't have are left out."""
    found: list[tuple[str, str]] = []
    for part, capability in data.get("content", {}).items():
        field, _, tag = part.partition(".")
        if has_part(definitions, params, field, tag):
            _check_path(definitions, ADVERTISED_IN[side], capability, f"{wire} with {part}")
            found.append((part, capability))
    return tuple(found)


def has_part(definitions: dict[str, Any], params: str, field: str, tag: str) -> bool:
    """Whether params have a field, and whether its items, or the params themselves, have a variant of this tag."""
    schema = definitions[params]
    own = schema.get("properties", {}).get(field)
    if own is None:
        return tag in _tags(schema, field)
    items = definitions.get(_target(own.get("items", {})) or "", {})
    return not tag or tag in _tags(items, "type")


def _tags(union: Any, field: str) -> set[str]:
    variants = (*union.get("oneOf", ()), *union.get("anyOf", ()))
    return {variant.get("properties", {}).get(field, {}).get("const") for variant in variants} - {None}


def _check_path(definitions: dict[str, Any], start: str, path: str, wire: str) -> None:
    """Every step of a capability's path is a property in this schema."""
    name: str | None = start
    pointer = f"/$defs/{start}"
    for step in path.split("."):
        properties = definitions.get(name or "", {}).get("properties", {})
        if step not in properties:
            raise SchemaError(
                pointer,
                f"{FILE} maps {wire} to {path}, and there is no {step!r} here.",
                then="Correct the path there.",
            )
        name = _target(properties[step])
        pointer = f"/$defs/{name}" if name else f"{pointer}/properties/{escape(step)}"


def _target(schema: Any) -> str | None:
    for part in (schema, *schema.get("allOf", ()), *schema.get("anyOf", ())):
        if "$ref" in part:
            return str(part["$ref"]).rsplit("/", 1)[-1]
    return None
