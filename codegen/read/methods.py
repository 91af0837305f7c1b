"""Reads the methods of a schema: which definitions are their params and results.

`x-method` and `x-side` say which method a definition belongs to. The messages at the schema's root say whether the
definition is in requests, notifications or responses. Both must agree. `codegen.data.resolve` adds the facts that no
schema states.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from typing import Any, NamedTuple

from acp_runtime.stubs.roles import Handler, Remote
from codegen.chosen_names import read_chosen_names, suggest_entry
from codegen.errors import SchemaError
from codegen.ir import OTHER_ROLE, Method
from codegen.names import method_name
from codegen.read.envelopes import Payload
from codegen.read.vocabulary import DEPRECATED

_WIRE = re.compile(r"[A-Za-z0-9_$./-]{1,200}")
# For each side: the roles that handle its methods, the senders of its requests and notifications, and the senders of
# its responses.
_SIDES = {
    "agent": (("agent",), {"Client"}, {"Agent"}),
    "client": (("client",), {"Agent"}, {"Client"}),
    "both": (("agent", "client"), {"Agent", "Client"}, {"Agent", "Client"}),
    "protocol": (("agent", "client"), {"ProtocolLevel"}, {"ProtocolLevel"}),
    "proxy": (("agent", "client"), {"Proxy"}, {"Proxy"}),
}
# Attributes that every handler or proxy inherits.
_INHERITED = frozenset((*dir(Handler), *dir(Remote), "request", "requests", "notify", "notifications"))
# Names that generated modules use, and as `<role>.<name>`, names that the bases of the roles use.
_RESERVED = {
    "PROFILE",
    "PROTOCOL_VERSION",
    *(f"{role.upper()}_{kind}" for role in OTHER_ROLE for kind in ("REQUESTS", "NOTIFICATIONS")),
    *(f"{role}.{name}" for role in OTHER_ROLE for name in _INHERITED),
}


class _Part(NamedTuple):
    """The method that a definition belongs to, and whether it is a `request`, a `notification` or a `response`."""

    side: str
    wire: str
    kind: str


def read_methods(raw: dict[str, Any], payloads: set[Payload]) -> list[Method]:
    """Read every method of a schema, in upstream's order, without facts."""
    definitions = raw["$defs"]
    parts = _find_parts(definitions, payloads)
    docs = _collect_docs(payloads)
    chosen_names = read_chosen_names().methods
    names = {part: chosen_names.get(part.wire, method_name(part.wire)) for part in parts if part.kind != "response"}
    counts = Counter(names.values())
    methods: list[Method] = []
    for part, name in names.items():
        params = parts[part]
        is_notification = part.kind == "notification"
        # A request and a notification can have the same name: on one side, or in the tables of both.
        has_namesake = is_notification and part._replace(kind="request") in parts
        constant = f"{name}_notification" if is_notification and counts[name] > 1 else name
        doc = docs[params] or definitions[params].get("description", "")
        is_deprecated = "deprecated" in definitions[params] or DEPRECATED in doc.split("\n\n")
        if is_deprecated and DEPRECATED not in doc:
            doc = f"{doc}\n\n{DEPRECATED}"
        method = Method(
            wire=part.wire,
            name=_avoid_inherited(f"{name}_notification" if has_namesake else name),
            constant=constant.upper(),
            side=part.side,
            handled_by=_SIDES[part.side][0],
            params=params,
            result=None if is_notification else parts[part._replace(kind="response")],
            doc=doc,
            deprecated=is_deprecated,
        )
        methods.append(method)
    _check_names(methods)
    return methods


def _find_parts(definitions: dict[str, Any], payloads: set[Payload]) -> dict[_Part, str]:
    """Return the definitions that belong to methods. Every request must have a response."""
    parts: dict[_Part, str] = {}
    for name, schema in definitions.items():
        part = _find_part(name, schema, payloads)
        if part is None:
            continue
        if part in parts:
            raise SchemaError(f"/$defs/{name}", f"{parts[part]} is already the {part.kind} of {part.wire}.")
        parts[part] = name
    _check_complete(parts, payloads, definitions)
    return parts


def _find_part(name: str, schema: Any, payloads: set[Payload]) -> _Part | None:
    """Return the method and the kind of a definition; None if it doesn't belong to a method."""
    pointer = f"/$defs/{name}"
    wire, side = schema.get("x-method"), schema.get("x-side")
    if wire is None and side is None:
        return None
    if not isinstance(wire, str) or not isinstance(side, str):
        raise SchemaError(pointer, "Expected `x-method` and `x-side` together, both as strings.")
    if side not in _SIDES:
        raise SchemaError(f"{pointer}/x-side", f"The side {side!r} has no rule; known are {', '.join(_SIDES)}.")
    if not _WIRE.fullmatch(wire):
        raise SchemaError(
            f"{pointer}/x-method", f"{wire!r} can't be the name of a method; expected words like `fs/read`."
        )
    payloads_of_name = {payload for payload in payloads if payload.definition == name}
    kinds = {payload.kind for payload in payloads_of_name}
    if len(kinds) != 1:
        places = " and ".join(f"{kind}s" for kind in sorted(kinds)) or "none"
        raise SchemaError(
            pointer, f"Expected {name} in either requests, responses or notifications, found it in {places}."
        )
    kind = kinds.pop()
    expected = _SIDES[side][2 if kind == "response" else 1]
    senders = {payload.sender for payload in payloads_of_name}
    if senders != expected:
        raise SchemaError(
            pointer,
            f"A {kind} of side {side!r} is sent by {' and '.join(sorted(expected))}, "
            f"but it is in messages of {' and '.join(sorted(senders))}.",
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
    """Check that every method has a name of its own, in the tables and on each role that handles it."""
    names = dict.fromkeys(_RESERVED, "something else")
    for method in methods:
        pointer = f"/$defs/{method.params}/x-method"
        if keyword.iskeyword(method.name) or not method.name.isidentifier():
            message = f"{method.wire!r} gives {method.name!r}, which can't be the name of a method."
            raise SchemaError(pointer, message, next_step=_suggest_name(method))
        for name in (method.constant, *(f"{role}.{method.name}" for role in method.handled_by)):
            if name in names:
                message = f"{method.wire!r} gives the name {name}, which {names[name]} has already."
                raise SchemaError(pointer, message, next_step=_suggest_name(method))
            names[name] = f"{method.wire!r}"


def _suggest_name(method: Method) -> str:
    return suggest_entry("methods", method.wire, f"{method.name.strip('_') or 'call'}_{method.kind}")


def _collect_docs(payloads: set[Payload]) -> dict[str, str]:
    """Return upstream's descriptions of methods, by the methods' params. A method of both sides may have two."""
    docs: dict[str, dict[str, None]] = {}
    for payload in sorted(payloads, key=str):
        if payload.kind != "response":
            docs.setdefault(payload.definition, {})[payload.doc] = None
    return {name: "\n\n".join(filter(None, texts)) for name, texts in docs.items()}


def _avoid_inherited(name: str) -> str:
    """Add an underscore to a method's name if the bases of the roles have a public attribute of that name."""
    return f"{name}_" if name in _INHERITED and not name.startswith("_") else name
