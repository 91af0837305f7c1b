"""The definitions of a small schema with methods of every side and kind."""

from __future__ import annotations

from tests.support.codegen.build import STRING, Schema, model, other, part_of, wraps

INITIALIZE: Schema = {
    "Fs": model(readTextFile={"type": "boolean", "default": False}),
    "ClientCapabilities": model(fs=wraps("Fs")),
    "InitializeRequest": part_of("initialize", "agent", model(clientCapabilities=wraps("ClientCapabilities"))),
    "InitializeResponse": part_of("initialize", "agent", model()),
}
SET_OPTION: Schema = {
    **model(["sessionId"], sessionId=STRING),
    "anyOf": [
        {**model(["type", "value"], type={"type": "string", "const": "boolean"}, value={"type": "boolean"})},
        other("type", "boolean"),
    ],
}
DEFINITIONS: Schema = {
    **INITIALIZE,
    "NewRequest": part_of("session/new", "agent", {"description": "Start it.", **model(["cwd"], cwd=STRING, n=STRING)}),
    "NewResponse": part_of("session/new", "agent", model(["sessionId"], sessionId=STRING)),
    "SetRequest": part_of("session/set_config_option", "agent", SET_OPTION),
    "SetResponse": part_of("session/set_config_option", "agent", model()),
    "CancelNotification": part_of("session/cancel", "agent", model(["sessionId"], sessionId=STRING)),
    "UpdateNotification": part_of("session/update", "client", model(["sessionId"], sessionId=STRING)),
    "ReadRequest": part_of("fs/read_text_file", "client", model(["path"], path=STRING)),
    "ReadResponse": part_of("fs/read_text_file", "client", model(["content"], content=STRING)),
    "MessageRequest": part_of("mcp/message", "both", model(method=STRING)),
    "MessageResponse": part_of("mcp/message", "both", model()),
    "MessageNotification": part_of("mcp/message", "both", model(method=STRING)),
    "CancelRequestNotification": part_of("$/cancel_request", "protocol", model(requestId=STRING)),
    "SuccessorRequest": part_of("proxy/successor", "proxy", model(method=STRING)),
    "SuccessorResponse": part_of("proxy/successor", "proxy", model()),
}
