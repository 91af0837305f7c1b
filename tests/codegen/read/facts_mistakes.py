"""Mistakes in `methods.toml`: the correct text, the mistake, and the place and words of the error message."""

from __future__ import annotations

from tests.support.codegen.facts_base import FACTS

FOLDERS = '{ needs = "agentCapabilities.close", absolute = true }'
CLOSE = 'capability = "agentCapabilities.close", ends'
BY = 'by = "session/cancel"'
OFFERED = '{ offered = "a prompt is running" }'
UNLOCKED = "agent/session~1close: Expected either `offered`, or `baseline` or `capability`"
NOTE, OTHER = '"note" = { changes', '"other" = { changes = "note", id = "noteId", appends = "line", to = "lines" }'
UPDATES = "methods.toml [v1.updates] "
NEW, CLOSED = "methods.toml [v1.agent] 'session/new': ", "methods.toml [v1.agent] 'session/close': "
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
    "a text for a place": (FOLDERS, '"absolute"', "places/NewRequest.folders: Expected a table, found 'absolute'"),
    "an unknown fact": (FOLDERS, "{ path = true }", "places/NewRequest.folders/path: There is no such key"),
    "a list of capabilities for a place": (
        FOLDERS,
        '{ needs = ["a"] }',
        "places/NewRequest.folders/needs: Input should be a valid string, found ['a']",
    ),
    "a place that isn't absolute": (
        FOLDERS,
        "{ absolute = false }",
        "places/NewRequest.folders/absolute: Input should be True, found False",
    ),
    "false for true": ("opens = true", "opens = false", "agent/initialize/opens: Input should be True, found False"),
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
    "an update that does two things": (
        NOTE,
        '"note" = { removes = "a", changes',
        "updates/note: Expected one of `says`, `changes`, `removes`, `sets`, `adds_to`, or an empty table",
    ),
    "an update that does nothing": (OTHER, '"other" = { id = "noteId" }', "updates/other: Expected one of `says`"),
    "an unknown key of an update": (NOTE, '"note" = { change', "updates/note/change: There is no such key"),
    "an update without an id": (OTHER, '"other" = { removes = "note" }', "updates/other: `removes` needs the `id`"),
    "a key of another effect": (
        OTHER,
        '"other" = { adds_to = "notes", id = "noteId" }',
        "updates/other: `id` doesn't belong to `adds_to`",
    ),
    "a place for nothing that is appended": (
        'appends = "line", ',
        "",
        "updates/other: `to` says where something is appended, but `appends` is missing",
    ),
    "an update that appends and replaces": (
        'appends = "line"',
        'appends = "line", null = "keeps"',
        "updates/other: `null` doesn't belong to `appends`",
    ),
    "a speaker that doesn't exist": (
        OTHER,
        '"other" = { says = "system", id = "noteId" }',
        "updates/other/says: Input should be 'user', 'agent' or 'thought', found 'system'",
    ),
    "an unknown value of null": (
        'null = "clears"',
        'null = "stays"',
        "updates/note/null: Input should be 'clears' or 'keeps', found 'stays'",
    ),
    "a thing with the name of a role": (
        OTHER,
        '"other" = { changes = "user", id = "noteId" }',
        "updates/other: `changes` is 'user', which stands for messages",
    ),
    "a value without a Python name": (
        OTHER,
        '"other" = { sets = { "a b" = "*" } }',
        "updates/other: 'a b' is not a Python name",
    ),
    "a list without a Python name": (OTHER, '"other" = { adds_to = "1" }', "updates/other: '1' is not a Python name"),
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
    "a capability of a place that doesn't exist": (
        FOLDERS,
        '{ needs = "agentCapabilities.clothe" }',
        f"{SCHEMA}NewRequest: ",
        "says that folders in session/new needs agentCapabilities.clothe, but there is no such capability here",
    ),
    "a capability of the side that sends the place": (
        FOLDERS,
        '{ needs = "clientCapabilities.close" }',
        f"{SCHEMA}NewRequest: ",
        "says that folders in session/new needs clientCapabilities.close, but there is no such capability here",
    ),
    "an absolute path that isn't a string": (
        '"Server.http" = { needs = "agentCapabilities.close" }',
        '"Server.http" = { absolute = true }',
        f"{SCHEMA}NewRequest: ",
        "says that servers.http in session/new is an absolute path, but it is not a string",
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
    "a property that doesn't exist in a place": (
        '"NewRequest.cwd"',
        '"NewRequest.folder"',
        "methods.toml [v1.places] 'NewRequest.folder': ",
        "There is no such place in the messages of any pinned schema of v1.",
    ),
    "a tag that doesn't exist": (
        '"Server.http"',
        '"Server.https"',
        "methods.toml [v1.places] 'Server.https': ",
        "There is no such place in the messages of any pinned schema of v1.",
    ),
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
        "names 'session/close', but the notifications here are $/cancel_request, session/cancel, session/update.",
    ),
    "a part of a notification that it doesn't have": (
        "update.note",
        "update.notes",
        "methods.toml [v1.agent] 'session/prompt': ",
        "`accepted` names 'update.notes'",
    ),
    "a field of a notification without a tag": (
        '"update.note"',
        '"text"',
        f"{SCHEMA}PromptResponse: ",
        "`accepted` needs tags of one field, but names text.",
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
    "capabilities that don't exist": (
        "without = {}",
        "without = { open = false }",
        "codegen/methods.toml [v1.newer]: `without`",
        "does not fit 'clientCapabilities' in v1/schema.json",
    ),
    "a client without a name": (
        'unknown_info = { name = "unknown" }',
        "unknown_info = {}",
        "codegen/methods.toml [v1.newer]: `unknown_info`",
        "does not fit 'clientInfo' in v1/schema.json",
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
    "an update without an entry": (OTHER + "\n", "", UPDATES, "has no entry for the update 'other'. Say what it does."),
    "an entry for an update that doesn't exist": (
        OTHER,
        f'{OTHER}\n"others" = {{}}',
        f"{UPDATES}'others': ",
        "There is no such update in session/update of any pinned schema of v1.",
    ),
    "an id that an update doesn't have": (
        'noteId", null',
        'note", null',
        f"{UPDATES}'note': ",
        "`id` names 'note', but there is no such property in v1/schema.json.",
    ),
    "something appended that an update doesn't have": (
        'appends = "line"',
        'appends = "row"',
        f"{UPDATES}'other': ",
        "`appends` names 'row'",
    ),
    "appended to what the thing doesn't have": (
        'to = "lines"',
        'to = "noteId.content"',
        f"{UPDATES}'other': ",
        "`to` names 'noteId.content'",
    ),
    "appended to a thing that no update has": (
        OTHER,
        OTHER.replace('"note"', '"notes"'),
        f"{UPDATES}'other': ",
        "`changes` names 'notes', but no update has such a thing in v1/schema.json.",
    ),
    "a thing to remove that no update has": (
        OTHER,
        '"other" = { removes = "notes", id = "noteId" }',
        f"{UPDATES}'other': ",
        "`removes` names 'notes', but no update has such a thing in v1/schema.json.",
    ),
    "a value from a property that doesn't exist": (
        OTHER,
        '"other" = { sets = { a = "*", b = "title" } }',
        f"{UPDATES}'other': ",
        "`sets` names 'title'",
    ),
    "a new thing with a property that doesn't exist": (
        "new = { lines",
        "new = { line",
        f"{UPDATES}'note': ",
        "`new` names 'line'",
    ),
    "two kinds with a new thing": (
        OTHER,
        '"other" = { changes = "note", id = "noteId", new = { line = "" } }',
        f"{UPDATES}'note': ",
        "Another kind has `new` for 'note', too.",
    ),
    "a new thing with an invalid value": (
        "new = { lines = [] }",
        "new = { lines = [1] }",
        f"{UPDATES}'note': ",
        "`new` has an invalid value for 'lines', [1].",
    ),
    "an id that may be missing": (
        OTHER,
        '"other" = { removes = "note", id = "block.noteId" }',
        f"{UPDATES}'other': ",
        "`id` names 'block.noteId', which may be missing or null.",
    ),
    "an id that is not a text": (
        OTHER,
        '"other" = { says = "agent", id = "noteNumber", appends = "block" }',
        f"{UPDATES}'other': ",
        "`id` names 'noteNumber', which is not a text.",
    ),
    "a text that is appended to a message": (
        OTHER,
        '"other" = { says = "agent", id = "noteId", appends = "line" }',
        f"{UPDATES}'other': ",
        "`appends` names 'line', which is not a block of content.",
    ),
    "a block that is appended to a list of texts": (
        'appends = "line"',
        'appends = "block"',
        f"{UPDATES}'other': ",
        "'block' can't be appended to 'lines': that is not a list of it, nor are both base64.",
    ),
    "a text that is appended to a text": (
        'to = "lines"',
        'to = "noteId"',
        f"{UPDATES}'other': ",
        "'line' can't be appended to 'noteId'",
    ),
    "a new thing with an id": (
        "new = { lines",
        'new = { noteId = "1", lines',
        f"{UPDATES}'note': ",
        "`new` names 'noteId', which each update has anyway.",
    ),
    "a new thing with a tag": (
        "new = { lines",
        'new = { kind = "note", lines',
        f"{UPDATES}'note': ",
        "`new` names 'kind', which each update has anyway.",
    ),
    "a new thing without a required property": (
        ", new = { lines = [] }",
        "",
        f"{UPDATES}'note': ",
        "`new` needs a value for 'lines', which is required.",
    ),
    "two kinds that set a value": (
        FACTS[FACTS.index('"note" = {') :],
        '"note" = { sets = { a = "*" } }\n"other" = { sets = { a = "line" } }',
        f"{UPDATES}'other': ",
        "`sets` has 'a', which 'note' sets, too.",
    ),
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
