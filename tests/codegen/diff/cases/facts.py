"""What `methods.toml` says of methods: the base's file says something else, the schemas are the same."""

from __future__ import annotations

import tomllib
from typing import Any

from codegen.read.methods import METHODS_TOML
from tests.codegen.diff.cases.methods import BOOLEAN, MethodCase, stable
from tests.support.codegen.build import STRING, model, part_of, ref

LINES: dict[str, Any] = tomllib.loads(METHODS_TOML.read_text("utf-8"))["v1"]
ID = model(["sessionId"], sessionId=STRING, otherId=STRING)
SCHEMAS = stable(
    {
        "Capabilities": model(close=BOOLEAN),
        "InitializeRequest": part_of("initialize", "agent", model(clientCapabilities=ref("Terminals"))),
        "InitializeResponse": part_of("initialize", "agent", model(agentCapabilities=ref("Sessions"))),
        "Terminals": model(terminal=BOOLEAN),
        "Sessions": model(sessionCapabilities=ref("Capabilities"), promptCapabilities=ref("Capabilities")),
        "NewSessionRequest": part_of("session/new", "agent", model(cwd=STRING, otherFolder=STRING)),
        "NewSessionResponse": part_of("session/new", "agent", ID),
        "CloseRequest": part_of("session/close", "agent", ID),
        "CloseResponse": part_of("session/close", "agent", model()),
        "PromptRequest": part_of("session/prompt", "agent", ID),
        "PromptResponse": part_of("session/prompt", "agent", model(stopReason=STRING)),
        "CancelNotification": part_of("session/cancel", "agent", ID),
        "KillRequest": part_of("terminal/kill", "client", model(terminalId=STRING, otherId=STRING)),
        "KillResponse": part_of("terminal/kill", "client", model()),
        "CancelRequestNotification": part_of("$/cancel_request", "protocol", model(requestId=STRING, otherId=STRING)),
    }
)


def said(name: str, wire: str, rule: str, letters: str, side: str = "agent", **keys: Any) -> MethodCase:
    """The base says this of a method. A key that is None is not in its line."""
    line = {key: value for key, value in (LINES[side][wire] | keys).items() if value is not None}
    flow = {"agent": "client->agent", "client": "agent->client", "protocol": "both"}[side]
    if {"creates", "ends", "gone"} & keys.keys():
        flow = "agent->client"  # all of them are the agent's
    table = {"v1": LINES | {side: LINES[side] | {wire: line}}}
    return MethodCase(name, SCHEMAS, SCHEMAS, rule, letters, flow, table)


def in_common(name: str, **keys: str) -> MethodCase:
    table = {"v1": LINES | {"properties": LINES["properties"] | keys}}
    return MethodCase(name, SCHEMAS, SCHEMAS, "profile-properties-changed", "RRSRS", "both", table)


STOPPED = {"by": "session/cancel", "result": {"stopReason": "stopped"}}

CASES = [
    said("a method that didn't open the connection", "initialize", "method-opens-changed", "RRSSS", opens=None),
    said("a method that opened the connection", "session/prompt", "method-opens-changed", "RRSSS", opens=True),
    said(
        "another property that names what is new", "session/new", "method-creates-changed", "SSSRS", creates="otherId"
    ),
    said("a result that named nothing new", "session/new", "method-creates-changed", "SSSRS", creates=None),
    said("another property that names what is gone", "session/close", "method-ends-changed", "SSSRS", ends="otherId"),
    said("a method that ended nothing", "session/close", "method-ends-changed", "SSSRS", ends=None),
    said("another exemption", "terminal/kill", "method-exempt-changed", "SSRSS", "client", exempt="otherId"),
    said("no exemption", "terminal/kill", "method-exempt-changed", "SSRSS", "client", exempt=None),
    said("another error that counts as success", "session/close", "method-gone-changed", "SSSRS", gone=-32001),
    said("no error that counted as success", "session/close", "method-gone-changed", "SSSRS", gone=None),
    said(
        "another property that names the request",
        "$/cancel_request",
        "method-cancels-changed",
        "RRSSS",
        "protocol",
        cancels="otherId",
    ),
    said("another answer when cancelled", "session/prompt", "method-cancelled-changed", "RRSRR", cancelled=STOPPED),
    said("no answer when cancelled", "session/prompt", "method-cancelled-changed", "RRSRR", cancelled=None),
    said("other paths", "session/new", "method-paths-changed", "SSRSS", paths=["cwd", "otherFolder"]),
    said("no paths", "session/new", "method-paths-changed", "SSRSS", paths=None),
    said(
        "a part of the params that needed a capability",
        "session/new",
        "method-content-changed",
        "RRRSS",
        content={"otherFolder": "agentCapabilities.folders"},
    ),
    in_common("another property of sessions", session="otherId"),
    in_common("another property of versions", version="otherVersion"),
    in_common("other capabilities", agent_capabilities="otherCapabilities"),
    in_common("another answer to a lower version", lower="refused"),
]
