"""Changes of methods, messages and profiles."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from codegen.data.facts_file import METHODS_TOML, find_entries, parse_facts
from codegen.data.renames import Rename, keep_old_names
from codegen.diff.report import Report, compare
from codegen.diff.sources import Side, Snapshot
from codegen.regen import read_schema
from tests.support.codegen.build import (
    STRING,
    Schema,
    acp_schema,
    array,
    initialize,
    model,
    part_of,
    ref,
    request,
    tagged,
)
from tests.support.diff.cases import around, holds
from tests.support.diff.sides import side_of_schemas

BASE = around("request", model())


@dataclass(frozen=True, eq=False)
class MethodCase:
    """One change.

    Attributes:
        name: the change in a few words.
        old: the base's schemas, by profile.
        new: the head's schemas, by profile.
        rule: the expected finding's rule.
        letters: the expected verdicts, as in `rules.py`.
        flow: the expected direction.
        base_facts: the base's `methods.toml`, with only the entries that differ from the head's.
        base_renames: the base's `renames.toml`; the head's is empty.
    """

    name: str
    old: dict[str, Schema]
    new: dict[str, Schema]
    rule: str
    letters: str
    flow: str = "client->agent"
    base_facts: dict[str, Any] = field(default_factory=dict[str, Any])
    base_renames: tuple[Rename, ...] = ()


def compare_case(case: MethodCase) -> Report:
    """Compare both sides of a case, the base with its own facts and old names."""
    table = deepcopy(parse_facts(METHODS_TOML.read_bytes(), METHODS_TOML.name))
    for version, sides in case.base_facts.items():
        for side, entries in sides.items():
            table[version].setdefault(side, {}).update(entries)
    schemas = {name: read_schema(raw, name[:2], table, checked=False) for name, raw in case.old.items()}
    kept = {name: keep_old_names(schema, name, case.base_renames) for name, schema in schemas.items()}
    base = Side("", "", {name: Snapshot(f"{name}.json", case.old[name], schema) for name, schema in kept.items()})
    return compare(base, side_of_schemas(case.new))


def stable(definitions: Schema) -> dict[str, Schema]:
    return {"v1": acp_schema(BASE | definitions)}


def both(definitions: Schema, unstable: Schema) -> dict[str, Schema]:
    return stable(definitions) | {"v1_unstable": acp_schema(BASE | unstable)}


def notification(wire: str, name: str, on: str, params: Schema | None = None) -> Schema:
    return {f"{name}Notification": part_of(wire, on, params or model())}


def agent_with(capabilities: Schema) -> Schema:
    """Return `initialize`, with these capabilities of the agent."""
    return {**initialize(result={"agentCapabilities": ref("AgentCapabilities")}), "AgentCapabilities": capabilities}


def client_with(capabilities: Schema) -> Schema:
    """Return `initialize`, with these capabilities of the client."""
    return {**initialize({"clientCapabilities": ref("ClientCapabilities")}), "ClientCapabilities": capabilities}


def set_mode(*, params: str = "SetModeRequest", result: str = "SetModeResponse") -> Schema:
    """Return four definitions, of which these two are the params and the result of `session/set_mode`."""
    definitions = {"SetModeRequest": holds(STRING), "OtherRequest": model()}
    definitions |= {"SetModeResponse": model(), "OtherResponse": holds(STRING)}
    mine = {name: part_of("session/set_mode", "agent", definitions[name]) for name in (params, result)}
    return definitions | mine


def without_extensions(definition: str) -> dict[str, Schema]:
    """Return the base schema in which one kind of message no longer allows params of unknown methods."""
    raw = acp_schema(BASE)
    raw["$defs"][definition]["properties"]["params"]["anyOf"].pop()
    return {"v1": raw}


def message_to(side: str) -> Schema:
    return notification("mcp/message", "McpMessage", side, holds(STRING))


def old_name(
    name: str, schemas: dict[str, Schema], letters: str, old: str, new: str, flow: str = "client->agent"
) -> MethodCase:
    """Return a case in which the base has an old name."""
    renames = (Rename(("v1",), old, new, "9.0.0"),)
    return MethodCase(name, schemas, schemas, "definition-old-name-removed", letters, flow, base_renames=renames)


def fact(
    name: str,
    schemas: dict[str, Schema],
    rule: str,
    letters: str,
    wire: str,
    entry: dict[str, Any],
    side: str = "agent",
) -> MethodCase:
    """Return a case in which the base has another entry of a method."""
    flow = "client->agent" if side == "agent" else "agent->client"
    return MethodCase(name, schemas, schemas, rule, letters, flow, {"v1": {side: {wire: entry}}})


BOOLEAN: Schema = {"type": "boolean"}
BASELINE = {"baseline": True}
BLOCK: Schema = {"Block": {"anyOf": [tagged("type", "text"), tagged("type", "image")]}}
MODE = request("session/set_mode", "SetMode")
CANCEL = notification("session/cancel", "Cancel", "agent")
PROTOCOL = {"CancelRequestNotification": part_of("$/cancel_request", "protocol", model())}
KILL = request("terminal/kill", "Kill", on="client")
TERMINAL = client_with(model(terminal=BOOLEAN))
MCP = agent_with(model(mcpCapabilities=ref("McpCapabilities"))) | {"McpCapabilities": model(acp=BOOLEAN)}
FILES = client_with(model(fs=ref("FileCapabilities"))) | {
    "FileCapabilities": model(readTextFile=BOOLEAN, writeTextFile=BOOLEAN)
}
PROMPT = {
    **agent_with(model(promptCapabilities=ref("PromptCapabilities"))),
    **request("session/prompt", "Prompt", model(prompt=array(ref("ContentBlock")))),
    "PromptCapabilities": model(image=BOOLEAN),
    "ContentBlock": {"anyOf": [tagged("type", "text"), tagged("type", "image")]},
}
KIND = {"Kind": model()}
NONE, MODES, CLIENT = stable({}), stable(MODE), stable(TERMINAL)
PROMPTS, BLOCKS = stable(PROMPT), stable(BLOCK)

_OLD_MODES = set_mode()
DEPRECATED = stable(_OLD_MODES | {"SetModeRequest": {**_OLD_MODES["SetModeRequest"], "deprecated": True}})

CASES = [
    # Methods added and removed
    MethodCase(
        "method with a capability added", CLIENT, stable(TERMINAL | KILL), "method-added", "SSSSS", "agent->client"
    ),
    MethodCase("method without a capability added", NONE, MODES, "method-added-unannounced", "RSSSS"),
    MethodCase("method deprecated", MODES, DEPRECATED, "method-deprecated", "SSSSS"),
    MethodCase("notification added", NONE, stable(CANCEL), "method-added-notification", "SSSSS"),
    MethodCase("baseline method added", NONE, CLIENT, "method-added-baseline", "BSSSB"),
    old_name("an old name of a definition is no longer kept", BLOCKS, "SSBBS", "Part", "Block", "none"),
    old_name("an old name of params is no longer kept", MODES, "SSBBB", "ChangeRequest", "SetModeRequest"),
    MethodCase("method removed", MODES, NONE, "method-removed-unannounced", "SBBBB"),
    MethodCase(
        "method removed with its capability",
        stable(TERMINAL | KILL),
        stable(client_with(model())),
        "method-removed",
        "SRBBB",
        "agent->client",
    ),
    MethodCase(
        "method removed without its capability",
        stable(TERMINAL | KILL),
        CLIENT,
        "method-removed-unannounced",
        "SBBBB",
        "agent->client",
    ),
    MethodCase("notification removed", stable(CANCEL), NONE, "method-removed-notification", "SRBBB"),
    MethodCase("baseline method removed", CLIENT, NONE, "method-removed-baseline", "SBBBB"),
    MethodCase("method became stable", both({}, MODE), both(MODE, MODE), "method-stabilised", "SSSSS"),
    MethodCase("method became unstable", both(MODE, MODE), both({}, MODE), "method-left-stable", "SBBBB"),
    MethodCase("definition became stable", both({}, KIND), both(KIND, KIND), "definition-stabilised", "SSSSS", "none"),
    MethodCase(
        "definition became unstable", both(KIND, KIND), both({}, KIND), "definition-left-stable", "SSBBS", "none"
    ),
    # Kind, side, name and payloads
    MethodCase(
        "request became a notification",
        stable(request("mcp/message", "McpMessage", on="client")),
        stable(notification("mcp/message", "McpMessage", "client")),
        "method-kind-changed",
        "BBBBB",
        "agent->client",
    ),
    MethodCase(
        "method handled by the other side",
        stable(MCP | message_to("agent")),
        stable(MCP | message_to("client")),
        "method-side-changed",
        "BBBSB",
        "both",
    ),
    MethodCase(
        "method handled by one of both sides",
        stable(message_to("both")),
        stable(message_to("client")),
        "method-side-narrowed",
        "SBBSB",
        "both",
    ),
    MethodCase(
        "method handled by both sides",
        stable(message_to("client")),
        stable(message_to("both")),
        "method-side-widened",
        "SSSSS",
        "both",
    ),
    MethodCase(
        "method renamed",
        stable(request("fs/read_text_file", "File", holds(STRING), on="client") | FILES),
        stable(request("fs/write_text_file", "File", holds(STRING), on="client") | FILES),
        "method-renamed",
        "BBBSB",
        "agent->client",
        {"v1": {"client": {"fs/read_text_file": find_entries("v1", "client", "fs/write_text_file")[0][1]}}},
    ),
    MethodCase(
        "params became a definition that old peers refuse",
        stable(set_mode()),
        stable(set_mode(params="OtherRequest")),
        "method-params-changed",
        "BSBBB",
    ),
    MethodCase(
        "result became a definition that old peers don't send",
        stable(set_mode()),
        stable(set_mode(result="OtherResponse")),
        "method-result-changed",
        "SBBBB",
    ),
    # Capabilities in codegen/methods.toml
    fact(
        "method with another capability",
        stable(TERMINAL | KILL),
        "method-capability-changed",
        "RRRSS",
        "terminal/kill",
        {"capability": "clientCapabilities.kill"},
        "client",
    ),
    fact("method became baseline", NONE, "method-baseline-gained", "BSSSB", "session/new", {"offered": "somehow"}),
    fact("method no longer baseline", MODES, "method-baseline-lost", "SBRSS", "session/set_mode", BASELINE),
    # Messages
    MethodCase("kind of message added", NONE, stable(PROTOCOL), "message-added", "RSSSS", "both"),
    MethodCase("kind of message removed", stable(PROTOCOL), NONE, "message-removed", "SRSSS", "both"),
    MethodCase(
        "message without extension methods",
        NONE,
        without_extensions("ClientRequest"),
        "message-changed",
        "RRSSS",
        "both",
    ),
    # Profiles
    MethodCase("profile added", NONE, both({}, {}), "profile-added", "SSSSS", "both"),
    MethodCase("profile removed", both({}, {}), NONE, "profile-removed", "BBBBB", "both"),
]
