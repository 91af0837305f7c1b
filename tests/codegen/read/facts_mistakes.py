"""Mistakes in `methods.toml`: the correct text, the mistake, and the place and words of the error message."""

from __future__ import annotations

from tests.support.codegen.facts_base import FACTS

RESULT = ', result = { stopReason = "cancelled" }'
SESSION = 'session = "sessionId"'
PATHS = 'paths = ["cwd", "folders"]'
CLOSE = 'capability = "agentCapabilities.close", ends'
BY = 'by = "session/cancel"'
OFFERED = '{ offered = "a prompt is running" }'
UNLOCKED = "agent/session~1close: Expected either `offered`, or `baseline` or `capability`"
NEW, CLOSED = "methods.toml [v1.agent] 'session/new': ", "methods.toml [v1.agent] 'session/close': "
PROPERTIES, SCHEMA = "methods.toml [v1.properties]: ", "v1/schema.json#/$defs/"
CANCELS, PROMPT = "methods.toml [v1.protocol] '$/cancel_request': ", "methods.toml [v1.agent] 'session/prompt': "
CAPABILITIES, CANCEL = f"{SCHEMA}Capabilities: ", f"{SCHEMA}CancelNotification: "
PROMPT_RESPONSE = f"{SCHEMA}PromptResponse: "
UNKNOWN = {
    "version": "protocolVersion",
    "agent_capabilities": "agentCapabilities",
    "client_info": "clientInfo",
}
# Mistakes in the form of the file. The place is a JSON pointer below `/v1/`, here without its beginning.
INITIALIZE, SESSION_NEW, CLOSE_AT, PROMPT_AT = (
    f"agent/{each}" for each in ("initialize", "session~1new", "session~1close", "session~1prompt/cancelled")
)
GONE = "gone = -32002"
FORM = {
    "a number for an entry": (OFFERED, "5", "agent/session~1cancel: Expected a table, found 5"),
    "an unknown key": ("creates =", "creats =", f"{SESSION_NEW}/creats: There is no such key"),
    "a number for a property": ('creates = "sessionId"', "creates = 5", f"{SESSION_NEW}/creates: Input should be"),
    "an empty property": ('ends = "sessionId"', 'ends = ""', f"{CLOSE_AT}/ends: Expected the name of a property"),
    "a text for an error code": (GONE, 'gone = "-32002"', f"{CLOSE_AT}/gone: Input should be a valid integer"),
    "a positive error code": (GONE, "gone = 32002", f"{CLOSE_AT}/gone: Input should be less than 0, found 32002"),
    "true for an error code": (GONE, "gone = true", f"{CLOSE_AT}/gone: Input should be a valid integer, found True"),
    "a text for a list": (PATHS, 'paths = "cwd"', f"{SESSION_NEW}/paths: Expected a list, found 'cwd'"),
    "a number in a list": (PATHS, "paths = [1]", f"{SESSION_NEW}/paths/0: Input should be a valid string, found 1"),
    "an empty list": (PATHS, "paths = []", f"{SESSION_NEW}/paths: List should have at least 1 item"),
    "false for true": ("opens = true", "opens = false", f"{INITIALIZE}/opens: Input should be True, found False"),
    "cancelled without its result": (RESULT, "", f"{PROMPT_AT}/result: The key is missing"),
    "cancelled by its id, but not true": (BY, f"{BY}, by_id = false", f"{PROMPT_AT}/by_id: Input should be True"),
    "cancelled with another key": (BY, f"{BY}, at = 1", f"{PROMPT_AT}/at: There is no such key"),
    "an unknown side": ("[v1.protocol]", "[v1.server]", "server: There is no such key"),
    "nothing that unlocks the method": (CLOSE, "ends", UNLOCKED),
    "both offered and a capability": (CLOSE, 'offered = "a", baseline = true, ends', UNLOCKED),
    "a capability of a side that advertises none": (
        'offered = "a request is in flight"',
        'capability = "a"',
        "protocol/$~1cancel_request/capability: There is no such key",
    ),
    "no table of properties": (FACTS.partition("[v1.agent]")[0], "", "properties: The key is missing"),
    "a missing key of the properties": (f"{SESSION}\n", "", "properties/session: The key is missing"),
    "an unknown key of the properties": (SESSION, f'{SESSION}\ntitle = "a"', "properties/title: There is no such key"),
    "a property without a Python name": (SESSION, 'session = "a b"', "properties/session: Expected the name of a"),
    "an unknown value of lower": ('lower = "own"', 'lower = "none"', "properties/lower: Input should be 'own' or"),
}
MISTAKES: dict[str, tuple[str, str, str, str]] = {
    **{name: (old, new, "methods.toml#/v1/", words) for name, (old, new, words) in FORM.items()},
    "an unknown version": ("[v1.protocol]", "[v9.protocol]", "methods.toml#/v9/[key]: ", "match pattern '^(v1|v2)$'"),
    "a capability that doesn't exist": (
        CLOSE,
        'capability = "agentCapabilities.clothe", ends',
        CAPABILITIES,
        "says that session/close needs agentCapabilities.clothe, but there is no 'clothe' here",
    ),
    "a capability of a part that doesn't exist": (
        '"folders" = "agentCapabilities.close"',
        '"folders" = "agentCapabilities.clothe"',
        CAPABILITIES,
        "says that session/new with folders needs",
    ),
    "a property of the params instead of the result": (
        'creates = "sessionId"',
        'creates = "cwd"',
        NEW,
        "`creates` names 'cwd', but the method has no such property in any pinned schema of v1",
    ),
    "an unknown ended session": ('ends = "sessionId"', 'ends = "session"', CLOSED, "`ends` names"),
    "an unknown exemption": ('exempt = "sessionId"', 'exempt = "terminalId"', CLOSED, "`exempt` names 'terminalId'"),
    "an unknown request id": ('cancels = "requestId"', 'cancels = "id"', CANCELS, "`cancels` names 'id'"),
    "an unknown path": (PATHS, 'paths = ["cwd", "folder"]', NEW, "`paths` names 'folder'"),
    "an unknown part": ('"folders" = "agent', '"folder" = "agent', NEW, "`content` names 'folder', but the method has"),
    "an unknown tag": ('"servers.http" =', '"servers.https" =', NEW, "`content` names 'servers.https'"),
    "an unknown property of the result": ("= { stopReason", "= { reason", PROMPT, "`cancelled` names 'reason'"),
    "an invalid result": (
        'stopReason = "cancelled"',
        'stopReason = "canceled"',
        PROMPT_RESPONSE,
        'the result in `cancelled`, {"stopReason":"canceled"}, is not a PromptResponse',
    ),
    "a request where a notification belongs": (
        BY,
        'by = "session/close"',
        PROMPT_RESPONSE,
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
        CANCEL,
        "`opens` is for a request, but session/cancel is a notification",
    ),
    "a fact for notifications on a request": (
        GONE,
        'cancels = "sessionId"',
        f"{SCHEMA}CloseRequest: ",
        "`cancels` is for a notification, but session/close is a request",
    ),
    "an empty result that isn't valid": (
        '"session/prompt" = { ',
        '"session/prompt" = { gone = -32002, ',
        PROMPT_RESPONSE,
        "'stopReason' is required",
    ),
    "a session id that no message has": (SESSION, 'session = "id"', CANCEL, "but its params have no 'id'"),
    **{
        f"an unknown property for {key}": (
            f'{key} = "{old}"',
            f'{key} = "x"',
            PROPERTIES,
            f"`{key}` is 'x', a property",
        )
        for key, old in UNKNOWN.items()
    },
}
