"""Changes of facts in `methods.toml`. The schemas of both sides are the same."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from codegen.data.facts_file import METHODS_TOML
from tests.codegen.diff.cases.methods import BOOLEAN, MethodCase, stable
from tests.support.codegen.build import STRING, Schema, initialize, model, other, part_of, ref, request, tagged

ENTRIES: dict[str, Any] = tomllib.loads(METHODS_TOML.read_text("utf-8"))["v1"]
ABSOLUTE = {**STRING, "description": "Must be an absolute path."}
NEW = model(additionalDirectories=STRING, cwd=ABSOLUTE, otherFolder=STRING)
ID = model(["sessionId"], sessionId=STRING, otherId=STRING)
SCHEMAS = stable(
    {
        "Capabilities": model(close=BOOLEAN, additionalDirectories=BOOLEAN),
        **initialize({"clientCapabilities": ref("Terminals")}, {"agentCapabilities": ref("Sessions")}),
        "Terminals": model(terminal=BOOLEAN),
        "Sessions": model(sessionCapabilities=ref("Capabilities"), promptCapabilities=ref("Capabilities")),
        **request("session/new", "NewSession", NEW, ID),
        **request("session/close", "Close", ID),
        **request("session/prompt", "Prompt", ID, model(stopReason=STRING)),
        "CancelNotification": part_of("session/cancel", "agent", ID),
        "Note": model(text=STRING),
        "SessionUpdate": {"anyOf": [tagged("kind", kind, "Note") for kind in ("note", "other")]},
        "SessionNotification": part_of("session/update", "client", model(["update"], update=ref("SessionUpdate"))),
        **request("terminal/kill", "Kill", model(terminalId=STRING, otherId=STRING), on="client"),
        "CancelRequestNotification": part_of("$/cancel_request", "protocol", model(requestId=STRING, otherId=STRING)),
    }
)


def entry(name: str, wire: str, rule: str, letters: str, side: str = "agent", **keys: Any) -> MethodCase:
    """Return a case in which the base's entry of a method has these keys. None removes a key."""
    base = {key: value for key, value in (ENTRIES[side][wire] | keys).items() if value is not None}
    flow = {"agent": "client->agent", "client": "agent->client", "protocol": "both"}[side]
    if {"creates", "ends", "gone"} & keys.keys():
        flow = "agent->client"  # these facts are about results, and agents handle all methods here that have them
    table = {"v1": ENTRIES | {side: ENTRIES[side] | {wire: base}}}
    return MethodCase(name, SCHEMAS, SCHEMAS, rule, letters, flow, table)


def place(name: str, rule: str, letters: str, key: str, fact: dict[str, Any]) -> MethodCase:
    """Return a case in which the base has another entry about a place in the params of `session/new`."""
    table = {"v1": ENTRIES | {"places": ENTRIES["places"] | {key: fact}}}
    return MethodCase(name, SCHEMAS, SCHEMAS, rule, letters, base_facts=table)


def stated(name: str, rule: str, letters: str, before: Schema, after: Schema) -> MethodCase:
    """Return a case in which the params of `session/new` are described in another way."""
    old, new = (
        {"v1": {**SCHEMAS["v1"], "$defs": SCHEMAS["v1"]["$defs"] | request("session/new", "NewSession", params, ID)}}
        for params in (before, after)
    )
    return MethodCase(name, old, new, rule, letters)


def shared(name: str, **keys: str) -> MethodCase:
    """Return a case in which the base has these settings for all methods."""
    table = {"v1": ENTRIES | {"properties": ENTRIES["properties"] | keys}}
    return MethodCase(name, SCHEMAS, SCHEMAS, "profile-properties-changed", "RRSRS", "both", table)


def lost(name: str, rule: str, letters: str, definition: str, key: str, flow: str = "client->agent") -> MethodCase:
    """Return a case in which the head's schema renames a property that a fact names."""
    raw = json.dumps(SCHEMAS["v1"]["$defs"][definition]).replace(f'"{key}"', '"renamed"')
    definitions = {**SCHEMAS["v1"]["$defs"], definition: json.loads(raw)}
    return MethodCase(name, SCHEMAS, {"v1": {**SCHEMAS["v1"], "$defs": definitions}}, rule, letters, flow)


ACCEPTED = {"by": "session/update", "parts": ["update.note"], "id": "stopReason"}


def from_start(text: str) -> Schema:
    """Return params that are an open union, of whose open member the text says something."""
    return {"anyOf": [tagged("type", "start"), other("type", "start") | {"description": text}]}


REJECTED = "Agents MUST reject a request with a cursor they do not support with `-32602`."
STOPPED = {"by": "session/cancel", "result": {"stopReason": "stopped"}}

CASES = [
    entry("a method opens the connection", "initialize", "method-opens-changed", "RRSSS", opens=None),
    entry("a method no longer opens the connection", "session/prompt", "method-opens-changed", "RRSSS", opens=True),
    entry(
        "another property names the new session", "session/new", "method-creates-changed", "SSSRS", creates="otherId"
    ),
    entry("a result names the new session", "session/new", "method-creates-changed", "SSSRS", creates=None),
    entry("another property names the ended session", "session/close", "method-ends-changed", "SSSRS", ends="otherId"),
    entry("a method ends a session", "session/close", "method-ends-changed", "SSSRS", ends=None),
    entry("another exemption", "terminal/kill", "method-exempt-changed", "SSRSS", "client", exempt="otherId"),
    entry("an exemption added", "terminal/kill", "method-exempt-changed", "SSRSS", "client", exempt=None),
    entry("another error becomes an empty result", "session/close", "method-gone-changed", "SSSRS", gone=-32001),
    entry("an error becomes an empty result", "session/close", "method-gone-changed", "SSSRS", gone=None),
    entry(
        "another property names the cancelled request",
        "$/cancel_request",
        "method-cancels-changed",
        "RRSSS",
        "protocol",
        cancels="otherId",
    ),
    entry("another result when cancelled", "session/prompt", "method-cancelled-changed", "RRSRR", cancelled=STOPPED),
    entry("a result when cancelled", "session/prompt", "method-cancelled-changed", "RRSRR", cancelled=None),
    entry("a question no longer waits", "session/prompt", "method-interactive-changed", "SSSSR", interactive=True),
    entry("nothing accepts a request", "session/prompt", "method-accepted-changed", "RRSRR", accepted=ACCEPTED),
    stated("a path that is absolute now", "method-absolute-gained", "SRRSS", model(cwd=STRING), model(cwd=ABSOLUTE)),
    stated("a path that may be relative now", "method-absolute-lost", "RSSSS", model(cwd=ABSOLUTE), model(cwd=STRING)),
    place(
        "another path that may be relative now",
        "method-absolute-lost",
        "RSSSS",
        "NewSessionRequest.otherFolder",
        {"absolute": True},
    ),
    stated("a type that is rejected now", "method-unsupported-gained", "SRSSS", from_start(""), from_start(REJECTED)),
    stated("a type that is accepted now", "method-unsupported-lost", "RSSSS", from_start(REJECTED), from_start("")),
    place(
        "a part of the params requires a capability",
        "method-needs-gained",
        "SRRSS",
        "NewSessionRequest.additionalDirectories",
        {},
    ),
    place(
        "a part of the params requires another capability",
        "method-needs-changed",
        "RRRSS",
        "NewSessionRequest.additionalDirectories",
        {"needs": "agentCapabilities.folders"},
    ),
    place(
        "a part of the params no longer requires a capability",
        "method-needs-lost",
        "RSSSS",
        "NewSessionRequest.otherFolder",
        {"needs": "agentCapabilities.folders"},
    ),
    lost(
        "a capability of a part that the schema no longer has",
        "method-needs-lost",
        "RSSSS",
        "NewSessionRequest",
        "additionalDirectories",
    ),
    lost(
        "an id that the schema no longer has",
        "method-creates-changed",
        "SSSRS",
        "NewSessionResponse",
        "sessionId",
        "agent->client",
    ),
    lost(
        "a cancelled result that the schema no longer has",
        "method-cancelled-changed",
        "RRSRR",
        "PromptResponse",
        "stopReason",
    ),
    shared("another property names sessions", session="otherId"),
    shared("another property has the version", version="otherVersion"),
    shared("another property has the agent's capabilities", agent_capabilities="otherCapabilities"),
    shared("another answer to a lower version", lower="refused"),
]
