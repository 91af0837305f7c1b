"""A pair of small schemas, with a change for each way of using the bindings."""

from __future__ import annotations

from tests.support.codegen.build import STRING, Schema, initialize, model, part_of, ref, request, tagged
from tests.support.diff.cases import INT, MAYBE, UINT, enum


def _union(*tags: str) -> Schema:
    return {"oneOf": [tagged("type", each, "Text") for each in tags], "discriminator": {"propertyName": "type"}}


def _around(params: Schema, result: Schema) -> Schema:
    """Return the methods that carry the definitions. The one that opens a connection has to work."""
    return {
        **initialize(),
        **request("session/new", "NewSession", params, result),
        "SessionNotification": part_of("session/update", "client", model(["update"], update=ref("Block"))),
        "Text": model(["text", "size"], text=STRING, size=UINT, next=ref("Text")),
    }


_SESSION = {"sessionId": STRING, "level": INT}
BEFORE = {
    **_around(
        model(["cwd"], cwd=STRING, label=STRING, mood=ref("Mood")),
        model(["sessionId", "title"], **_SESSION, title=STRING, note=MAYBE),
    ),
    "Mood": enum("good", "bad"),
    "Block": _union("a", "b"),
    "Gone": model(["text"], text=STRING),
    **request("session/set_mode", "SetMode"),
}
AFTER = {
    **_around(
        model(["cwd", "label"], cwd=STRING, label=STRING, mood=ref("Mood"), more=STRING),
        model(["sessionId", "title"], **_SESSION, title=MAYBE),
    ),
    "Mood": enum("good"),
    "Block": _union("a", "b", "c"),
    **request("session/request_permission", "Ask", on="client"),
}
