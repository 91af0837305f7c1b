"""Mistakes in `methods.toml`: the correct text, the mistake, the place in the error message, and words of it."""

from __future__ import annotations

from tests.support.codegen.facts_base import FACTS

Mistake = tuple[str, str, str, str]
PROPERTIES, ENTRY = "methods.toml [v1.properties]: ", "methods.toml [v1.agent] 'session/{}': "
# The place of a mistake in the form of the file: a JSON pointer.
FORM = "methods.toml#/v1/{}: "
MISTAKES: dict[str, Mistake] = {
    "a number for an entry": (
        '"session/cancel" = { offered = "a prompt is running" }',
        '"session/cancel" = 5',
        FORM.format("agent/session~1cancel"),
        "Expected a table, found 5",
    ),
    "an unknown key": (
        "creates =",
        "creats =",
        FORM.format("agent/session~1new/creats"),
        "There is no such key",
    ),
    "a number for a property": (
        'creates = "sessionId"',
        "creates = 5",
        FORM.format("agent/session~1new/creates"),
        "Input should be a valid string, found 5",
    ),
    "an empty property": (
        'ends = "sessionId"',
        'ends = ""',
        FORM.format("agent/session~1close/ends"),
        "Expected the name of a property in camelCase, found ''",
    ),
    "a list for a property": (
        'exempt = "sessionId"',
        'exempt = ["sessionId"]',
        FORM.format("agent/session~1close/exempt"),
        "Input should be a valid string, found ['sessionId']",
    ),
    "a text for an error code": (
        "gone = -32002",
        'gone = "-32002"',
        FORM.format("agent/session~1close/gone"),
        "Input should be a valid integer, found '-32002'",
    ),
    "a positive error code": (
        "gone = -32002",
        "gone = 32002",
        FORM.format("agent/session~1close/gone"),
        "Input should be less than 0, found 32002",
    ),
    "true for an error code": (
        "gone = -32002",
        "gone = true",
        FORM.format("agent/session~1close/gone"),
        "Input should be a valid integer, found True",
    ),
    "a text for a list": (
        'paths = ["cwd", "folders"]',
        'paths = "cwd"',
        FORM.format("agent/session~1new/paths"),
        "Expected a list, found 'cwd'",
    ),
    "a number in a list": (
        'paths = ["cwd", "folders"]',
        "paths = [1]",
        FORM.format("agent/session~1new/paths/0"),
        "Input should be a valid string, found 1",
    ),
    "an empty list": (
        'paths = ["cwd", "folders"]',
        "paths = []",
        FORM.format("agent/session~1new/paths"),
        "List should have at least 1 item",
    ),
    "false for true": (
        "opens = true",
        "opens = false",
        FORM.format("agent/initialize/opens"),
        "Input should be True, found False",
    ),
    "a text for true": (
        "opens = true",
        'opens = "yes"',
        FORM.format("agent/initialize/opens"),
        "Input should be True, found 'yes'",
    ),
    "a text for a table": (
        'content = { "folders" = "agentCapabilities.close", "servers.http" = "agentCapabilities.close" }',
        'content = "folders"',
        FORM.format("agent/session~1new/content"),
        "Expected a table, found 'folders'",
    ),
    "cancelled without its result": (
        ', result = { stopReason = "cancelled" }',
        "",
        FORM.format("agent/session~1prompt/cancelled/result"),
        "The key is missing",
    ),
    "cancelled with another key": (
        'by = "session/cancel",',
        'by = "session/cancel", at = 1,',
        FORM.format("agent/session~1prompt/cancelled/at"),
        "There is no such key",
    ),
    "an unknown side": (
        "[v1.protocol]",
        "[v1.server]",
        FORM.format("server"),
        "There is no such key",
    ),
    "an unknown version": (
        "[v1.protocol]",
        "[v9.protocol]",
        "methods.toml#/v9/[key]: ",
        "String should match pattern '^(v1|v2)$', found 'v9'",
    ),
    "nothing that unlocks the method": (
        'capability = "agentCapabilities.close", ends',
        "ends",
        FORM.format("agent/session~1close"),
        "Expected either `offered`, or `baseline` or `capability`",
    ),
    "both offered and a capability": (
        'capability = "agentCapabilities.close", ends',
        'offered = "a", baseline = true, ends',
        FORM.format("agent/session~1close"),
        "Expected either `offered`, or `baseline` or `capability`",
    ),
    "a capability of a side that advertises none": (
        'offered = "a request is in flight"',
        'capability = "a"',
        FORM.format("protocol/$~1cancel_request/capability"),
        "There is no such key",
    ),
    "a capability that doesn't exist": (
        'capability = "agentCapabilities.close", ends',
        'capability = "agentCapabilities.clothe", ends',
        "v1/schema.json#/$defs/Capabilities: ",
        "says that session/close needs agentCapabilities.clothe, but there is no 'clothe' here",
    ),
    "a capability of a part that doesn't exist": (
        '"folders" = "agentCapabilities.close"',
        '"folders" = "agentCapabilities.clothe"',
        "v1/schema.json#/$defs/Capabilities: ",
        "says that session/new with folders needs",
    ),
    "a property that the result doesn't have": (
        'creates = "sessionId"',
        'creates = "conversationId"',
        ENTRY.format("new"),
        "`creates` names 'conversationId', but the method has no such property in any pinned schema of v1",
    ),
    "a property of the params instead of the result": (
        'creates = "sessionId"',
        'creates = "cwd"',
        ENTRY.format("new"),
        "`creates` names 'cwd'",
    ),
    "a property that the params don't have": (
        'ends = "sessionId"',
        'ends = "session"',
        ENTRY.format("close"),
        "`ends` names 'session'",
    ),
    "an exempt property that the params don't have": (
        'exempt = "sessionId"',
        'exempt = "terminalId"',
        ENTRY.format("close"),
        "`exempt` names 'terminalId'",
    ),
    "a request id that the params don't have": (
        'cancels = "requestId"',
        'cancels = "id"',
        "methods.toml [v1.protocol] '$/cancel_request': ",
        "`cancels` names 'id'",
    ),
    "a path that the params don't have": (
        'paths = ["cwd", "folders"]',
        'paths = ["cwd", "folder"]',
        ENTRY.format("new"),
        "`paths` names 'folder'",
    ),
    "a part that doesn't exist": (
        '"folders" = "agent',
        '"folder" = "agent',
        ENTRY.format("new"),
        "`content` names 'folder', but the method has no such part",
    ),
    "a tag that doesn't exist": (
        '"servers.http" =',
        '"servers.https" =',
        ENTRY.format("new"),
        "`content` names 'servers.https'",
    ),
    "a result with a property that doesn't exist": (
        "result = { stopReason",
        "result = { reason",
        ENTRY.format("prompt"),
        "`cancelled` names 'reason'",
    ),
    "a result with an invalid value": (
        'stopReason = "cancelled"',
        'stopReason = "canceled"',
        "v1/schema.json#/$defs/PromptResponse: ",
        'the result in `cancelled`, {"stopReason":"canceled"}, is not a PromptResponse',
    ),
    "a result with a value of another type": (
        'stopReason = "cancelled"',
        "stopReason = 5",
        "v1/schema.json#/$defs/PromptResponse: ",
        "is not a PromptResponse",
    ),
    "a request where a notification belongs": (
        'by = "session/cancel"',
        'by = "session/close"',
        "v1/schema.json#/$defs/PromptResponse: ",
        "names 'session/close', but the notifications here are $/cancel_request, session/cancel.",
    ),
    "a notification that doesn't exist": (
        'by = "session/cancel"',
        'by = "session/stop"',
        "v1/schema.json#/$defs/PromptResponse: ",
        "names 'session/stop'",
    ),
    "a notification without a session": (
        'by = "session/cancel"',
        'by = "$/cancel_request"',
        "v1/schema.json#/$defs/CancelRequestNotification: ",
        "but its params have no 'sessionId'",
    ),
    "a fact for requests on a notification": (
        '{ offered = "a prompt is running" }',
        '{ offered = "a", opens = true }',
        "v1/schema.json#/$defs/CancelNotification: ",
        "`opens` is for a request, but session/cancel is a notification",
    ),
    "a fact for notifications on a request": (
        "gone = -32002",
        'cancels = "sessionId"',
        "v1/schema.json#/$defs/CloseRequest: ",
        "`cancels` is for a notification, but session/close is a request",
    ),
    "an empty result that isn't valid": (
        '"session/prompt" = { ',
        '"session/prompt" = { gone = -32002, ',
        "v1/schema.json#/$defs/PromptResponse: ",
        "'stopReason' is required",
    ),
    "no table of properties": (
        FACTS.partition("[v1.agent]")[0],
        "",
        FORM.format("properties"),
        "The key is missing",
    ),
    "a number for the table of properties": (
        FACTS.partition("[v1.agent]")[0],
        "[v1]\nproperties = 5\n",
        FORM.format("properties"),
        "Expected a table, found 5",
    ),
    "a missing key of the properties": (
        'session = "sessionId"\n',
        "",
        FORM.format("properties/session"),
        "The key is missing",
    ),
    "an unknown key of the properties": (
        'session = "sessionId"\n',
        'session = "sessionId"\ntitle = "a"\n',
        FORM.format("properties/title"),
        "There is no such key",
    ),
    "a number for a shared property": (
        'session = "sessionId"',
        "session = 5",
        FORM.format("properties/session"),
        "Input should be a valid string, found 5",
    ),
    "an empty shared property": (
        'version = "protocolVersion"',
        'version = ""',
        FORM.format("properties/version"),
        "Expected the name of a property in camelCase, found ''",
    ),
    "a property without a Python name": (
        'session = "sessionId"',
        'session = "session id"',
        FORM.format("properties/session"),
        "Expected the name of a property in camelCase, found 'session id'",
    ),
    "an unknown value of lower": (
        'lower = "own"',
        'lower = "none"',
        FORM.format("properties/lower"),
        "Input should be 'own' or 'refused', found 'none'",
    ),
    "a session id that no message has": (
        'session = "sessionId"',
        'session = "conversationId"',
        "v1/schema.json#/$defs/CancelNotification: ",
        "but its params have no 'conversationId'",
    ),
    "a version that no message has": (
        'version = "protocolVersion"',
        'version = "version"',
        PROPERTIES,
        "`version` is 'version', a property that the messages concerned don't have",
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
