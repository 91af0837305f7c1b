"""Mistakes in `methods.toml`: the correct text, the mistake, and the place and words of the error message."""

from __future__ import annotations

from tests.support.codegen.facts_base import FACTS

PATHS = 'paths = ["cwd", "folders"]'
CLOSE = 'capability = "agentCapabilities.close", ends'
BY = 'by = "session/cancel"'
OFFERED = '{ offered = "a prompt is running" }'
UNLOCKED = "agent/session~1close: Expected either `offered`, or `baseline` or `capability`"
NEW, CLOSED = "methods.toml [v1.agent] 'session/new': ", "methods.toml [v1.agent] 'session/close': "
LOGIN = "methods.toml [v1.agent] 'log/in': "
PROPERTIES, SCHEMA = "methods.toml [v1.properties]: ", "v1/schema.json#/$defs/"
# Mistakes in the form of the file. The place is a JSON pointer below `/v1/`.
FORM = {
    "a number for an entry": (OFFERED, "5", "agent/session~1cancel: Expected a table, found 5"),
    "an unknown key": ("creates =", "creats =", "agent/session~1new/creats: There is no such key"),
    "a number for a property": (
        'creates = "sessionId"',
        "creates = 5",
        "agent/session~1new/creates: Input should be a valid string, found 5",
    ),
    "an empty property": (
        'ends = "sessionId"',
        'ends = ""',
        "agent/session~1close/ends: String should have at least 1 character, found ''",
    ),
    "a text for an error code": (
        "gone = -32002",
        'gone = "-32002"',
        "agent/session~1close/gone: Input should be a valid integer, found '-32002'",
    ),
    "a positive error code": (
        "gone = -32002",
        "gone = 32002",
        "agent/session~1close/gone: Input should be less than 0, found 32002",
    ),
    "true for an error code": (
        "gone = -32002",
        "gone = true",
        "agent/session~1close/gone: Input should be a valid integer, found True",
    ),
    "a text for a list": (PATHS, 'paths = "cwd"', "agent/session~1new/paths: Expected a list, found 'cwd'"),
    "a number in a list": (PATHS, "paths = [1]", "agent/session~1new/paths/0: Input should be a valid string, found 1"),
    "an empty list": (PATHS, "paths = []", "agent/session~1new/paths: List should have at least 1 item"),
    "false for true": ("opens = true", "opens = false", "agent/initialize/opens: Input should be True, found False"),
    "cancelled without its result": (
        ', result = { stopReason = "cancelled" }',
        "",
        "agent/session~1prompt/cancelled/result: The key is missing",
    ),
    "cancelled by its id, but not true": (
        'by = "session/cancel",',
        'by = "session/cancel", by_id = false,',
        "agent/session~1prompt/cancelled/by_id: Input should be True, found False",
    ),
    "cancelled with another key": (
        f"{BY},",
        f"{BY}, at = 1,",
        "agent/session~1prompt/cancelled/at: There is no such key",
    ),
    "a list of login methods without their id": (
        '"logins.id"',
        '"logins"',
        "agent/log~1in/login/of: String should match pattern",
    ),
    "an unknown side": ("[v1.protocol]", "[v1.server]", "server: There is no such key"),
    "nothing that unlocks the method": (CLOSE, "ends", UNLOCKED),
    "both offered and a capability": (CLOSE, 'offered = "a", baseline = true, ends', UNLOCKED),
    "a capability of a side that advertises none": (
        'offered = "a request is in flight"',
        'capability = "a"',
        "protocol/$~1cancel_request/capability: There is no such key",
    ),
    "a number for where upstream says so": (
        '"https://example.com/servers"',
        "5",
        "may_be_missing/Http.headers: Input should be a valid string, found 5",
    ),
    "a list without its definition": (
        '"Http.headers"',
        '"headers"',
        "may_be_missing/headers/[key]: String should match pattern",
    ),
    "a missing key of the properties": ('session = "sessionId"\n', "", "properties/session: The key is missing"),
    "an unknown key of the properties": (
        'session = "sessionId"\n',
        'session = "sessionId"\ntitle = "a"\n',
        "properties/title: There is no such key",
    ),
    "an unknown value of lower": (
        'lower = "own"',
        'lower = "none"',
        "properties/lower: Input should be 'own' or 'refused', found 'none'",
    ),
}
MISTAKES: dict[str, tuple[str, str, str, str]] = {
    **{name: (old, new, "methods.toml#/v1/", words) for name, (old, new, words) in FORM.items()},
    "an unknown version": (
        "[v1.protocol]",
        "[v9.protocol]",
        "methods.toml#/v9/[key]: ",
        "String should match pattern '^(v1|v2)(_unstable|_next)?$', found 'v9'",
    ),
    "a capability that doesn't exist": (
        CLOSE,
        'capability = "agentCapabilities.clothe", ends',
        f"{SCHEMA}Capabilities: ",
        "says that session/close needs agentCapabilities.clothe, but there is no 'clothe' here",
    ),
    "a capability of a part that doesn't exist": (
        '"folders" = "agentCapabilities.close"',
        '"folders" = "agentCapabilities.clothe"',
        f"{SCHEMA}Capabilities: ",
        "says that session/new with folders needs",
    ),
    "a property of the params instead of the result": (
        'creates = "sessionId"',
        'creates = "cwd"',
        NEW,
        "`creates` names 'cwd', but the method has no such property in any pinned schema of v1",
    ),
    "a property that the params don't have": ('ends = "sessionId"', 'ends = "session"', CLOSED, "`ends` names"),
    "an exempt property that the params don't have": (
        'exempt = "sessionId"',
        'exempt = "terminalId"',
        CLOSED,
        "`exempt` names 'terminalId'",
    ),
    "a request id that the params don't have": (
        'cancels = "requestId"',
        'cancels = "id"',
        "methods.toml [v1.protocol] '$/cancel_request': ",
        "`cancels` names 'id'",
    ),
    "a path that the params don't have": (PATHS, 'paths = ["cwd", "folder"]', NEW, "`paths` names 'folder'"),
    "a part that doesn't exist": (
        '"folders" = "agent',
        '"folder" = "agent',
        NEW,
        "`content` names 'folder', but the method has no such part",
    ),
    "a login by a property that the params don't have": (
        'property = "methodId"',
        'property = "id"',
        LOGIN,
        "`login` names 'id', but the method has no such property",
    ),
    "an id that login methods don't have": (
        '"logins.id"',
        '"logins.name"',
        LOGIN,
        "`login` names 'logins.name'",
    ),
    "an excluded type that doesn't exist": ('"terminal"', '"window"', LOGIN, "`login` names 'window'"),
    "a tag that doesn't exist": ('"servers.http" =', '"servers.https" =', NEW, "`content` names 'servers.https'"),
    "a result with a property that doesn't exist": (
        "result = { stopReason",
        "result = { reason",
        "methods.toml [v1.agent] 'session/prompt': ",
        "`cancelled` names 'reason'",
    ),
    "a result with an invalid value": (
        'stopReason = "cancelled"',
        'stopReason = "canceled"',
        f"{SCHEMA}PromptResponse: ",
        'the result in `cancelled`, {"stopReason":"canceled"}, is not a PromptResponse',
    ),
    "a request where a notification belongs": (
        BY,
        'by = "session/close"',
        f"{SCHEMA}PromptResponse: ",
        "names 'session/close', but the notifications here are $/cancel_request, session/cancel.",
    ),
    "a notification without a session": (
        BY,
        'by = "$/cancel_request"',
        f"{SCHEMA}CancelRequestNotification: ",
        "but its params have no 'sessionId'",
    ),
    "a fact for requests on a notification": (
        OFFERED,
        '{ offered = "a", opens = true }',
        f"{SCHEMA}CancelNotification: ",
        "`opens` is for a request, but session/cancel is a notification",
    ),
    "a fact for notifications on a request": (
        "gone = -32002",
        'cancels = "sessionId"',
        f"{SCHEMA}CloseRequest: ",
        "`cancels` is for a notification, but session/close is a request",
    ),
    "an empty result that isn't valid": (
        '"session/prompt" = { ',
        '"session/prompt" = { gone = -32002, ',
        f"{SCHEMA}PromptResponse: ",
        "'stopReason' is required",
    ),
    "a session id that no message has": (
        'session = "sessionId"',
        'session = "conversationId"',
        f"{SCHEMA}CancelNotification: ",
        "but its params have no 'conversationId'",
    ),
    "a version that no message has": (
        'version = "protocolVersion"',
        'version = "version"',
        PROPERTIES,
        "`version` is 'version', but in v1/schema.json, the messages that should have",
    ),
    "a list that doesn't exist": (
        '"Http.headers"',
        '"Http.header"',
        f"{SCHEMA}Http: ",
        "`may_be_missing` names Http.header, but there is no such required list here",
    ),
    "a required text that may be missing": (
        '"Http.headers"',
        '"CloseRequest.sessionId"',
        f"{SCHEMA}CloseRequest: ",
        "names CloseRequest.sessionId, but there is no such required list",
    ),
    "no table of properties": (FACTS.partition("[v1.agent]")[0], "", PROPERTIES, "The table is missing"),
    "capabilities that no message has": (
        'agent_capabilities = "agentCapabilities"',
        'agent_capabilities = "capabilities"',
        PROPERTIES,
        "`agent_capabilities` is 'capabilities'",
    ),
    "a client info that no message has": (
        'client_info = "clientInfo"',
        'client_info = "info"',
        PROPERTIES,
        "`client_info` is 'info'",
    ),
}
