"""What the report says of methods, definitions that move between profiles, and messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.diff.findings import Finding
from codegen.diff.report import compare
from codegen.diff.sources import Side
from tests.codegen.build import STRING, Schema, model, part_of, ref
from tests.diff.cases.case import around, holds
from tests.diff.test_verdicts import side

BASE = around("request", model())


def request(wire: str, name: str, on: str = "agent", params: Schema | None = None) -> Schema:
    return {
        f"{name}Request": part_of(wire, on, params or model()),
        f"{name}Response": part_of(wire, on, model()),
    }


def notification(wire: str, name: str, on: str, params: Schema | None = None) -> Schema:
    return {f"{name}Notification": part_of(wire, on, params or model())}


MODE = request("session/set_mode", "SetMode")
CANCEL = notification("session/cancel", "Cancel", "agent")
INITIALIZE = {
    "InitializeRequest": part_of("initialize", "agent", model(clientCapabilities=ref("ClientCapabilities"))),
    "InitializeResponse": part_of("initialize", "agent", model()),
    "ClientCapabilities": model(terminal={"type": "boolean"}),
}
MCP = {
    "InitializeRequest": part_of("initialize", "agent", model()),
    "InitializeResponse": part_of("initialize", "agent", model(agentCapabilities=ref("AgentCapabilities"))),
    "AgentCapabilities": model(mcpCapabilities=ref("McpCapabilities")),
    "McpCapabilities": model(acp={"type": "boolean"}),
}
FILES = {
    "InitializeRequest": part_of("initialize", "agent", model(clientCapabilities=ref("ClientCapabilities"))),
    "InitializeResponse": part_of("initialize", "agent", model()),
    "ClientCapabilities": model(fs=ref("FileCapabilities")),
    "FileCapabilities": model(readTextFile={"type": "boolean"}, writeTextFile={"type": "boolean"}),
}
KILL = request("terminal/kill", "Kill", "client")

ROWS: dict[str, tuple[Schema, Schema, str, str, str]] = {
    "a method that a capability unlocks": (
        INITIALIZE,
        {**INITIALIZE, **KILL},
        "method-added",
        "SSSSS",
        "agent->client",
    ),
    "a method that nothing announces": ({}, MODE, "method-added-unannounced", "RSSSS", "client->agent"),
    "a notification": ({}, CANCEL, "method-added", "SSSSS", "client->agent"),
    "a baseline method": ({}, INITIALIZE, "method-added-baseline", "BSSSB", "client->agent"),
    "a method that is gone": (MODE, {}, "method-removed", "SRBSB", "client->agent"),
    "a notification that is gone": (CANCEL, {}, "method-removed", "SRBSB", "client->agent"),
    "a baseline method that is gone": (INITIALIZE, {}, "method-removed-baseline", "SBBSB", "client->agent"),
    "a method that became a notification": (
        request("mcp/message", "McpMessage", "client"),
        notification("mcp/message", "McpMessage", "client"),
        "method-kind-changed",
        "BBBBB",
        "agent->client",
    ),
    "a method of the other side": (
        MCP | notification("mcp/message", "McpMessage", "agent", holds(STRING)),
        MCP | notification("mcp/message", "McpMessage", "client", holds(STRING)),
        "method-side-changed",
        "BBBSB",
        "both",
    ),
    "a method of another name": (
        request("fs/read_text_file", "File", "client", holds(STRING)) | FILES,
        request("fs/write_text_file", "File", "client", holds(STRING)) | FILES,
        "method-renamed",
        "BBBSB",
        "agent->client",
    ),
    "a method of both sides": (
        notification("mcp/message", "McpMessage", "client", holds(STRING)),
        notification("mcp/message", "McpMessage", "both", holds(STRING)),
        "method-side-widened",
        "SSSSS",
        "both",
    ),
}


def of_methods(base: Side, head: Side) -> list[Finding]:
    found = compare(base, head, []).findings
    return [each for each in found if each.rule.startswith("method")]


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_change_of_methods_is_one_finding_of_a_method(row: tuple[Schema, Schema, str, str, str]) -> None:
    old, new, rule, letters, flow = row
    found = of_methods(side(BASE | old), side(BASE | new))
    assert [(each.rule, each.verdicts.letters, each.flow) for each in found] == [(rule, letters, flow)]


def test_a_method_names_its_handlers() -> None:
    (found,) = of_methods(side(BASE), side(BASE | MODE))
    assert found.symbols == ("acp_bindings.v1.Agent.session_set_mode",)
    assert found.place == "session/set_mode"


def both(stable: Schema, unstable: Schema) -> Side:
    one, other = side(BASE | stable), side(BASE | unstable, "v1_unstable")
    return replace(one, profiles={**one.profiles, **other.profiles})


def test_what_was_unstable_and_is_stable_now_is_said_to_be_so() -> None:
    found = compare(both({}, MODE), both(MODE, MODE), []).findings
    assert {each.rule for each in found} == {"method-stabilised", "definition-stabilised"}
    assert {each.profile for each in found} == {"v1"}


def test_what_left_the_stable_profile_is_said_to_be_unstable_now() -> None:
    found = compare(both(MODE, MODE), both({}, MODE), []).findings
    assert {each.rule for each in found} == {"method-left-stable", "definition-left-stable"}


def test_a_capability_and_a_baseline_that_changed_in_the_data_file_are_findings() -> None:
    base, head = side(BASE | MODE), side(BASE | MODE)
    methods = base.profiles["v1"].schema.methods
    methods[:] = [replace(each, capability="a.b", baseline=False) for each in methods]
    rules = sorted({each.rule for each in of_methods(base, head)})
    assert rules == ["method-baseline-gained", "method-capability-changed"]
    assert {each.rule for each in of_methods(head, base)} == {"method-baseline-lost", "method-capability-changed"}


def test_a_profile_that_only_one_side_has_is_one_finding() -> None:
    alone, pair = side(BASE), both({}, {})
    assert [each.rule for each in compare(alone, pair, []).findings] == ["profile-added"]
    assert [each.rule for each in compare(pair, alone, []).findings] == ["profile-removed"]


def test_a_message_that_comes_or_goes_is_a_finding() -> None:
    protocol = {"CancelRequestNotification": part_of("$/cancel_request", "protocol", model())}
    rules = {each.rule for each in compare(side(BASE), side(BASE | protocol), []).findings}
    assert {"message-added", "method-added"} <= rules
