"""The definitions of a small schema with methods of every side and kind."""

from __future__ import annotations

from tests.support.codegen.build import STRING, Schema, model, other, part_of, request, wraps

_SESSION = model(["sessionId"], sessionId=STRING)
SET_OPTION: Schema = {
    **_SESSION,
    "anyOf": [
        {**model(["type", "value"], type={"type": "string", "const": "boolean"}, value={"type": "boolean"})},
        other("type", "boolean"),
    ],
}
DEFINITIONS: Schema = {
    "Fs": model(readTextFile={"type": "boolean", "default": False}),
    "ClientCapabilities": model(fs=wraps("Fs")),
    **request("initialize", "Initialize", model(clientCapabilities=wraps("ClientCapabilities"))),
    **request("session/new", "New", {"description": "Start it.", **model(["cwd"], cwd=STRING, n=STRING)}, _SESSION),
    **request("session/set_config_option", "Set", SET_OPTION),
    "CancelNotification": part_of("session/cancel", "agent", _SESSION),
    "UpdateNotification": part_of("session/update", "client", _SESSION),
    **request("fs/read_text_file", "Read", model(["path"], path=STRING), model(["content"], content=STRING), "client"),
    **request("mcp/message", "Message", model(method=STRING), on="both"),
    "MessageNotification": part_of("mcp/message", "both", model(method=STRING)),
    "CancelRequestNotification": part_of("$/cancel_request", "protocol", model(requestId=STRING)),
    **request("proxy/successor", "Successor", model(method=STRING), on="proxy"),
}
