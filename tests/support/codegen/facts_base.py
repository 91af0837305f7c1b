"""A small schema and its `methods.toml`, in which the tests of facts make mistakes."""

from __future__ import annotations

from tests.support.codegen.build import (
    STRING,
    Schema,
    acp_schema,
    array,
    enum,
    initialize,
    model,
    part_of,
    ref,
    request,
    tagged,
    wraps,
)

PROPERTIES = """
[v1.properties]
session = "sessionId"
version = "protocolVersion"
agent_capabilities = "agentCapabilities"
agent_info = "agentInfo"
client_capabilities = "clientCapabilities"
client_info = "clientInfo"
lower = "own"
"""
FACTS = (
    PROPERTIES
    + """
[v1.newer]
without = {}
unknown_info = { name = "unknown" }

[v1.may_be_missing]
"Http.headers" = "https://example.com/servers"

[v1.places]
"NewRequest.folders" = { needs = "agentCapabilities.close", absolute = true }
"NewRequest.cwd" = { absolute = true }
"Server.http" = { needs = "agentCapabilities.close" }

[v1.agent]
"initialize" = { baseline = true, opens = true }
"session/new" = { baseline = true, creates = "sessionId" }
"session/prompt" = { baseline = true, cancelled = { by = "session/cancel", result = { stopReason = "cancelled" } }, accepted = { by = "session/update", parts = ["update.note"], id = "stopReason" } }
"session/close" = { capability = "agentCapabilities.close", ends = "sessionId", exempt = "sessionId", gone = -32002 }
"session/cancel" = { offered = "a prompt is running" }

[v1.client]
"session/update" = { baseline = true }

[v1.protocol]
"$/cancel_request" = { offered = "a request is in flight", cancels = "requestId" }

[v1.updates]
"note" = { changes = "note", id = "noteId", null = "clears", new = { lines = [] } }
"other" = { changes = "note", id = "noteId", appends = "line", to = "lines" }
"""  # noqa: E501 - TOML can't break an inline table
)
ID = model(["sessionId"], sessionId=STRING)
NEW = model(["cwd"], cwd=STRING, folders=array(STRING), servers=array(ref("Server")))
SCHEMA: Schema = acp_schema(
    {
        "Capabilities": model(close={"type": "boolean"}),
        "Info": model(["name"], name=STRING),
        "Reason": enum("end_turn", "cancelled"),
        "Http": model(["headers"], url=STRING, headers=array(STRING)),
        "Server": {"anyOf": [tagged("type", "http", "Http"), tagged("type", "sse", "Http")]},
        **initialize(
            {"clientCapabilities": ref("Capabilities"), "clientInfo": ref("Info")},
            {"agentCapabilities": ref("Capabilities"), "agentInfo": STRING},
        ),
        **request("session/new", "New", NEW, ID),
        **request("session/prompt", "Prompt", ID, model(["stopReason"], stopReason=wraps("Reason"))),
        **request("session/close", "Close", ID),
        "CancelNotification": part_of("session/cancel", "agent", ID),
        "Note": model(["noteId", "lines"], noteId=STRING, lines=array(STRING)),
        "Line": model(
            ["noteId", "line"], noteId=STRING, line=STRING, block=ref("Note"), noteNumber={"type": "integer"}
        ),
        "Update": {"anyOf": [tagged("kind", "note", "Note"), tagged("kind", "other", "Line")]},
        "SessionNotification": part_of(
            "session/update", "client", model(["update", "text"], update=ref("Update"), text=STRING)
        ),
        "CancelRequestNotification": part_of("$/cancel_request", "protocol", model(requestId=STRING)),
    }
)
