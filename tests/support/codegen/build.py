"""Builds small ACP schemas: the definitions of a test, and the messages that a schema needs around them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

_REQUESTS_OF = {"agent": ["Client"], "client": ["Agent"], "both": ["Agent", "Client"], "proxy": ["Proxy"]}
_RESPONSES_OF = {"agent": ["Agent"], "client": ["Client"], "both": ["Agent", "Client"], "proxy": ["Proxy"]}
_VERSION = {"type": "string", "enum": ["2.0"]}

STRING: Schema = {"type": "string"}
VERSION: Schema = {"type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535}


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def wraps(name: str) -> Schema:
    """Return a reference as upstream writes it in a union member that adds something to a definition."""
    return {"allOf": [ref(name)]}


def model(required: list[str] | None = None, /, **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def array(items: Any, **keywords: Any) -> Schema:
    return {"type": "array", "items": items} | keywords


def enum(*values: str, opened: bool = False) -> Schema:
    members: list[Schema] = [{"type": "string", "const": value} for value in values]
    return {"anyOf": [*members, {"title": "other", **STRING}]} if opened else {"oneOf": members}


def tagged(key: str, value: str, wrapped: str | None = None, **keywords: Any) -> Schema:
    """Return a union member: a constant tag, and the definition that it wraps."""
    tag = model([key], **{key: {"type": "string", "const": value}})
    return tag | (wraps(wrapped) if wrapped else {}) | keywords


def other(key: str, *known: str, **properties: Schema) -> Schema:
    """Return the open member of a union."""
    return {
        "title": "other",
        **model([key, *properties], **{key: STRING}, **properties),
        "not": {"anyOf": [tagged(key, value) for value in known]},
        "additionalProperties": True,
    }


def part_of(method: str, side: str, definition: Schema) -> Schema:
    """Return a definition as the params or the result of a method."""
    return {**definition, "x-side": side, "x-method": method}


def request(
    wire: str, name: str, params: Schema | None = None, result: Schema | None = None, on: str = "agent"
) -> Schema:
    """Return the params and the result of a request, which are empty objects by default."""
    payloads = {"Request": model() if params is None else params, "Response": model() if result is None else result}
    return {f"{name}{kind}": part_of(wire, on, payload) for kind, payload in payloads.items()}


def initialize(params: Schema | None = None, result: Schema | None = None) -> Schema:
    """Return the request that opens a connection, with further properties of its params and its result."""
    opening, answer = (model(["protocolVersion"], protocolVersion=VERSION, **(more or {})) for more in (params, result))
    return request("initialize", "Initialize", opening, answer)


def acp_schema(definitions: Schema) -> Schema:
    """Return a whole schema. The end of a name makes a definition with `x-side` a response, notification or request."""
    payloads: dict[str, list[str]] = {}
    senders = {"Agent", "Client"}
    for name, definition in definitions.items():
        side = definition.get("x-side") if isinstance(definition, dict) else None
        kind = next((end for end in ("Response", "Notification") if name.endswith(end)), "Request")
        for sender in (_RESPONSES_OF if kind == "Response" else _REQUESTS_OF).get(side or "", []):
            payloads.setdefault(sender + kind, []).append(name)
            senders.add(sender)
    protocol = [
        name
        for name, definition in definitions.items()
        if isinstance(definition, dict) and definition.get("x-side") == "protocol"
    ]
    envelopes = {
        name: envelope for sender in sorted(senders) for name, envelope in _envelopes(sender, payloads).items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Agent Client Protocol",
        "anyOf": [_message(sender) for sender in sorted(senders)] + ([_protocol(protocol)] if protocol else []),
        "$defs": {**envelopes, **_SHARED, **definitions},
    }


def write_schema(folder: Path, schema: Schema, file: str = "v1/schema.json") -> Path:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(schema, indent=2), "utf-8")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file and folder in a folder, hidden ones included, but not Python's caches."""
    paths = (path for path in sorted(folder.rglob("*")) if "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b"/" for path in paths}


_SHARED: Schema = {
    "RequestId": {"anyOf": [{"title": "Null", "type": "null"}, {"title": "Str", "type": "string"}]},
    "Error": model(["code"], code={"type": "integer", "format": "int32"}),
    "ExtRequest": {"description": "Anything."},
}


def _envelopes(sender: str, payloads: dict[str, list[str]]) -> Schema:
    requests, responses, notifications = (
        payloads.get(sender + kind, []) for kind in ("Request", "Response", "Notification")
    )
    result = model(["id", "result"], id=wraps("RequestId"), result=_one_of(responses))
    error = model(["id", "error"], id=wraps("RequestId"), error=wraps("Error"))
    return {
        f"{sender}Request": model(["id", "method"], id=wraps("RequestId"), method=STRING, params=_one_of(requests)),
        f"{sender}Response": {"anyOf": [{"title": "Result", **result}, {"title": "Error", **error}]},
        f"{sender}Notification": model(["method"], method=STRING, params=_one_of(notifications)),
    }


def _one_of(names: list[str]) -> Schema:
    return {"anyOf": [{"title": name, **wraps(name)} for name in [*names, "ExtRequest"]]}


def _message(sender: str) -> Schema:
    parts = [{"title": kind, **wraps(sender + kind)} for kind in ("Request", "Response", "Notification")]
    return {"title": sender, **model(["jsonrpc"], jsonrpc=_VERSION), "anyOf": parts}


def _protocol(names: list[str]) -> Schema:
    return {
        "title": "ProtocolLevel",
        **model(["jsonrpc", "method"], jsonrpc=_VERSION, method=STRING, params=_one_of(names)),
    }
