"""Methods, messages and profiles: which there are, who handles them and what unlocks them.

Small schemas by profile. What `methods.toml` said of a method at the base, where that was something else, stands in
`said`, as in that file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.support.codegen.build import STRING, Schema, acp_schema, model, part_of, ref, tagged
from tests.support.diff.case import around, holds

BASE = around("request", model())


@dataclass(frozen=True)
class MethodCase:
    """One change: the schemas before and after by profile, the finding it is, and which way the messages go."""

    name: str
    old: dict[str, Schema]
    new: dict[str, Schema]
    rule: str
    letters: str
    flow: str
    said: dict[str, Any] = field(default_factory=dict[str, Any])


def stable(definitions: Schema) -> dict[str, Schema]:
    return {"v1": acp_schema(BASE | definitions)}


def both(definitions: Schema, unstable: Schema) -> dict[str, Schema]:
    return stable(definitions) | {"v1_unstable": acp_schema(BASE | unstable)}


def request(wire: str, name: str, on: str = "agent", params: Schema | None = None) -> Schema:
    return {
        f"{name}Request": part_of(wire, on, params or model()),
        f"{name}Response": part_of(wire, on, model()),
    }


def notification(wire: str, name: str, on: str, params: Schema | None = None) -> Schema:
    return {f"{name}Notification": part_of(wire, on, params or model())}


def answers(capabilities: Schema) -> Schema:
    """`initialize`, with what the agent can do."""
    return {
        "InitializeRequest": part_of("initialize", "agent", model()),
        "InitializeResponse": part_of("initialize", "agent", model(agentCapabilities=ref("AgentCapabilities"))),
        "AgentCapabilities": capabilities,
    }


def asks(capabilities: Schema) -> Schema:
    """`initialize`, with what the client can do."""
    return {
        "InitializeRequest": part_of("initialize", "agent", model(clientCapabilities=ref("ClientCapabilities"))),
        "InitializeResponse": part_of("initialize", "agent", model()),
        "ClientCapabilities": capabilities,
    }


def set_mode(*, params: str = "SetModeRequest", result: str = "SetModeResponse") -> Schema:
    """`session/set_mode`, and four definitions of which two are its params and its result."""
    definitions = {"SetModeRequest": holds(STRING), "OtherRequest": model()}
    definitions |= {"SetModeResponse": model(), "OtherResponse": holds(STRING)}
    mine = {name: part_of("session/set_mode", "agent", definitions[name]) for name in (params, result)}
    return definitions | mine


def without_extensions(definition: str) -> dict[str, Schema]:
    """The base without room for params of methods that the schema doesn't name, in one kind of message."""
    raw = acp_schema(BASE)
    raw["$defs"][definition]["properties"]["params"]["anyOf"].pop()
    return {"v1": raw}


BOOLEAN: Schema = {"type": "boolean"}
MODE = request("session/set_mode", "SetMode")
CANCEL = notification("session/cancel", "Cancel", "agent")
PROTOCOL = {"CancelRequestNotification": part_of("$/cancel_request", "protocol", model())}
KILL = request("terminal/kill", "Kill", "client")
TERMINAL = asks(model(terminal=BOOLEAN))
MCP = answers(model(mcpCapabilities=ref("McpCapabilities"))) | {"McpCapabilities": model(acp=BOOLEAN)}
FILES = asks(model(fs=ref("FileCapabilities"))) | {
    "FileCapabilities": model(readTextFile=BOOLEAN, writeTextFile=BOOLEAN)
}
PROMPT = {
    **answers(model(promptCapabilities=ref("PromptCapabilities"))),
    **request("session/prompt", "Prompt", params=model(prompt={"type": "array", "items": ref("ContentBlock")})),
    "PromptCapabilities": model(image=BOOLEAN),
    "ContentBlock": {"anyOf": [tagged("type", "text"), tagged("type", "image")]},
}

CASES = [
    # Methods that come and go
    MethodCase(
        "a method that a capability unlocks",
        stable(TERMINAL),
        stable(TERMINAL | KILL),
        "method-added",
        "SSSSS",
        "agent->client",
    ),
    MethodCase(
        "a method that nothing announces",
        stable({}),
        stable(MODE),
        "method-added-unannounced",
        "RSSSS",
        "client->agent",
    ),
    MethodCase("a notification", stable({}), stable(CANCEL), "method-added", "SSSSS", "client->agent"),
    MethodCase("a baseline method", stable({}), stable(TERMINAL), "method-added-baseline", "BSSSB", "client->agent"),
    MethodCase("a method that is gone", stable(MODE), stable({}), "method-removed", "SRBSB", "client->agent"),
    MethodCase("a notification that is gone", stable(CANCEL), stable({}), "method-removed", "SRBSB", "client->agent"),
    MethodCase(
        "a baseline method that is gone",
        stable(TERMINAL),
        stable({}),
        "method-removed-baseline",
        "SBBSB",
        "client->agent",
    ),
    MethodCase(
        "a method that was unstable",
        both({}, MODE),
        both(MODE, MODE),
        "method-stabilised",
        "SSSSS",
        "client->agent",
    ),
    MethodCase(
        "a method that is unstable now",
        both(MODE, MODE),
        both({}, MODE),
        "method-left-stable",
        "SRBSB",
        "client->agent",
    ),
    MethodCase(
        "a definition that was unstable",
        both({}, {"Kind": model()}),
        both({"Kind": model()}, {"Kind": model()}),
        "definition-stabilised",
        "SSSSS",
        "none",
    ),
    MethodCase(
        "a definition that is unstable now",
        both({"Kind": model()}, {"Kind": model()}),
        both({}, {"Kind": model()}),
        "definition-left-stable",
        "SSBBS",
        "none",
    ),
    # What a method is
    MethodCase(
        "a method that became a notification",
        stable(request("mcp/message", "McpMessage", "client")),
        stable(notification("mcp/message", "McpMessage", "client")),
        "method-kind-changed",
        "BBBBB",
        "agent->client",
    ),
    MethodCase(
        "a method of the other side",
        stable(MCP | notification("mcp/message", "McpMessage", "agent", holds(STRING))),
        stable(MCP | notification("mcp/message", "McpMessage", "client", holds(STRING))),
        "method-side-changed",
        "BBBSB",
        "both",
    ),
    MethodCase(
        "a method of both sides",
        stable(notification("mcp/message", "McpMessage", "client", holds(STRING))),
        stable(notification("mcp/message", "McpMessage", "both", holds(STRING))),
        "method-side-widened",
        "SSSSS",
        "both",
    ),
    MethodCase(
        "a method of another name",
        stable(request("fs/read_text_file", "File", "client", holds(STRING)) | FILES),
        stable(request("fs/write_text_file", "File", "client", holds(STRING)) | FILES),
        "method-renamed",
        "BBBSB",
        "agent->client",
    ),
    MethodCase(
        "params that are another definition, which lacks what old peers need",
        stable(set_mode()),
        stable(set_mode(params="OtherRequest")),
        "method-params-changed",
        "BSBBB",
        "client->agent",
    ),
    MethodCase(
        "a result that is another definition, which needs what old peers don't send",
        stable(set_mode()),
        stable(set_mode(result="OtherResponse")),
        "method-result-changed",
        "SBBBB",
        "client->agent",
    ),
    # What codegen/methods.toml says of it
    MethodCase(
        "another capability",
        stable(TERMINAL | KILL),
        stable(TERMINAL | KILL),
        "method-capability-changed",
        "RRRSS",
        "agent->client",
        {"v1": {"client": {"terminal/kill": {"capability": "clientCapabilities.kill"}}}},
    ),
    MethodCase(
        "a method that every peer must have now",
        stable({}),
        stable({}),
        "method-baseline-gained",
        "BSSSB",
        "client->agent",
        {"v1": {"agent": {"session/new": {"offered": "somehow"}}}},
    ),
    MethodCase(
        "a method that a peer may be without now",
        stable(MODE),
        stable(MODE),
        "method-baseline-lost",
        "SBRSS",
        "client->agent",
        {"v1": {"agent": {"session/set_mode": {"baseline": True}}}},
    ),
    MethodCase(
        "another capability for a part of the params",
        stable(PROMPT),
        stable(PROMPT),
        "method-content-changed",
        "RRRSS",
        "client->agent",
        {"v1": {"agent": {"session/prompt": {"baseline": True, "content": {"prompt.image": "agentCapabilities.all"}}}}},
    ),
    # Messages
    MethodCase("messages beside agents' and clients'", stable({}), stable(PROTOCOL), "message-added", "RSSSS", "both"),
    MethodCase(
        "no messages beside agents' and clients'", stable(PROTOCOL), stable({}), "message-removed", "SRSSS", "both"
    ),
    MethodCase(
        "a message without room for extensions",
        stable({}),
        without_extensions("ClientRequest"),
        "message-changed",
        "RRSSS",
        "both",
    ),
    # Profiles
    MethodCase("a profile", stable({}), both({}, {}), "profile-added", "SSSSS", "both"),
    MethodCase("a profile that is gone", both({}, {}), stable({}), "profile-removed", "BBBBB", "both"),
]
