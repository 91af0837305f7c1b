"""A pair of small schemas, with a change for each way of using the bindings."""

from __future__ import annotations

from tests.support.codegen.build import STRING, Schema, model, part_of, ref, tagged
from tests.support.diff.cases import INT, MAYBE, UINT, enum

_VERSION = {"type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535}


def _union(*tags: str) -> Schema:
    return {"oneOf": [tagged("type", each, "Text") for each in tags], "discriminator": {"propertyName": "type"}}


def _around(params: Schema, result: Schema) -> Schema:
    """Return the methods that carry the definitions. The one that opens a connection has to work."""
    opening = model(["protocolVersion"], protocolVersion=_VERSION)
    return {
        "InitializeRequest": part_of("initialize", "agent", opening),
        "InitializeResponse": part_of("initialize", "agent", opening),
        "NewSessionRequest": part_of("session/new", "agent", params),
        "NewSessionResponse": part_of("session/new", "agent", result),
        "SessionNotification": part_of("session/update", "client", model(["update"], update=ref("Block"))),
        "Text": model(["text", "size"], text=STRING, size=UINT, next=ref("Text")),
    }


def _request(wire: str, name: str, on: str) -> Schema:
    return {f"{name}Request": part_of(wire, on, model()), f"{name}Response": part_of(wire, on, model())}


_SESSION = {"sessionId": STRING, "level": INT}
BEFORE = {
    **_around(
        model(["cwd"], cwd=STRING, label=STRING, mood=ref("Mood")),
        model(["sessionId", "title"], **_SESSION, title=STRING, note=MAYBE),
    ),
    "Mood": enum("good", "bad"),
    "Block": _union("a", "b"),
    "Gone": model(["text"], text=STRING),
    **_request("session/set_mode", "SetMode", "agent"),
}
AFTER = {
    **_around(
        model(["cwd", "label"], cwd=STRING, label=STRING, mood=ref("Mood"), more=STRING),
        model(["sessionId", "title"], **_SESSION, title=MAYBE),
    ),
    "Mood": enum("good"),
    "Block": _union("a", "b", "c"),
    **_request("session/request_permission", "Ask", "client"),
}
