"""The lines about a new schema in the changelog, and the capabilities that nothing requires."""

from __future__ import annotations

import pytest

from codegen.diff.report import compare
from codegen.diff.sources import Side, Snapshot
from codegen.regen import read_schema
from codegen.upgrade.changelog import write_entry
from codegen.upgrade.data_files import find_unused_capabilities
from tests.support.codegen.build import STRING, Schema, acp_schema, enum, model, part_of, ref
from tests.support.diff.cases import around, holds

BOOLEAN: Schema = {"type": "boolean"}


CANCEL: Schema = {"CancelNotification": part_of("session/cancel", "agent", model())}


def holds_kind(name: str, **more: Schema) -> Schema:
    return {"Holder": model(kind=ref(name), **more)}


def side(**profiles: Schema) -> Side:
    raw = {name: acp_schema(around("request", model()) | definitions) for name, definitions in profiles.items()}
    return Side(
        "", "", {name: Snapshot("", definition, read_schema(definition, name[:2])) for name, definition in raw.items()}
    )


def method(wire: str, name: str) -> Schema:
    return {f"{name}Request": part_of(wire, "agent", model()), f"{name}Response": part_of(wire, "agent", model())}


def advertising(**capabilities: Schema) -> Schema:
    return {
        "InitializeRequest": part_of("initialize", "agent", model(clientCapabilities=ref("ClientCapabilities"))),
        "InitializeResponse": part_of("initialize", "agent", model()),
        "ClientCapabilities": model(**capabilities),
        "Fs": model(readTextFile=BOOLEAN, watch=BOOLEAN, _meta={"type": "object", "additionalProperties": True}),
    }


def lines(old: Side, new: Side) -> list[str]:
    """Return the points of the entry, each on one line."""
    text = write_entry(compare(old, new), "npm:sdk@1.0.0", "npm:sdk@2.0.0")
    assert max(map(len, text.splitlines())) <= 120
    return [" ".join(word.split()) for word in text.split("\n  - ")[1:]]


def test_the_entry_names_both_releases() -> None:
    text = write_entry(compare(side(v1={}), side(v1={})), "npm:sdk@1.0.0", "npm:sdk@2.0.0")
    assert text.splitlines()[0] == "- The schema is that of `sdk` 2.0.0. Before, it was that of `sdk` 1.0.0."


def test_the_entry_names_new_things_in_the_stable_profile() -> None:
    old = side(v1={"Kind": enum("a", opened=True), **holds_kind("Kind")})
    new = side(v1={"Kind": enum("a", "b", opened=True), **holds_kind("Kind", more=STRING), "Other": model(), **CANCEL})
    assert lines(old, new) == [
        "Safe: `agent session/cancel notification`. The notification is new; peers that don't know it ignore it.",
        "Safe: `Other`. The definition is new.",
        "Safe: `Kind:b`. The open enum lists a new value.",
        "Safe: `Holder.more`. The property is new and optional.",
    ]


def test_findings_of_the_stable_profile_are_listed_by_what_changed_the_worst_first() -> None:
    assert lines(side(v1={}), side(v1=around("request", holds(STRING)) | method("session/set_mode", "Mode"))) == [
        "Breaking: `NewSessionRequest.x`. The property is new and required.",
        "Risky: `agent session/set_mode request`. The method is new, and no capability tells which peers support it.",
    ]


def test_the_entry_sums_up_the_other_profiles() -> None:
    draft = around("request", holds(STRING)) | method("session/set_mode", "Mode")
    old, new = side(v1={}, v1_unstable=CANCEL), side(v1={}, v1_unstable=draft)
    assert lines(old, new) == ["`v1`: no changes.", "Changes in `v1_unstable`: 2 breaking, 1 risky."]


def test_changed_descriptions_are_mentioned_if_nothing_else_changed() -> None:
    old, new = (side(v1={"Other": {**model(), "description": text}}) for text in ("One.", "Two."))
    assert lines(old, new) == ["`v1`: only descriptions changed."]


def test_long_lists_are_cut() -> None:
    (line,) = lines(side(v1={}), side(v1={f"Definition{letter}": model() for letter in "abcdefghijklmno"}))
    assert " and 3 more. " in line


SOURCES = {
    "npm:@agentclientprotocol/sdk@2.4.0": "`@agentclientprotocol/sdk` 2.4.0",
    "folder:@agentclientprotocol/sdk@2.4.0": "`@agentclientprotocol/sdk` 2.4.0",
    "folder": "`folder`",
    "npm:@scope/package": "`@scope/package`",
}


@pytest.mark.parametrize(("source", "expected"), SOURCES.items(), ids=SOURCES)
def test_a_release_is_named_as_users_know_it(source: str, expected: str) -> None:
    text = write_entry(compare(side(v1={}), side(v1={})), source, source)
    assert text.startswith(f"- The schema is that of {expected}. Before,")


# Capabilities


def test_a_new_capability_that_no_method_requires_is_found() -> None:
    old, new = side(v1=advertising()), side(v1=advertising(fs=ref("Fs"), terminal=BOOLEAN))
    assert find_unused_capabilities(old, new) == ["clientCapabilities.fs (v1)", "clientCapabilities.terminal (v1)"]
    assert find_unused_capabilities(new, new) == []


def test_a_new_capability_that_a_method_requires_is_not_found() -> None:
    read = {
        "ReadRequest": part_of("fs/read_text_file", "client", model()),
        "ReadResponse": part_of("fs/read_text_file", "client", model()),
    }
    old, new = side(v1=advertising()), side(v1=advertising(fs=ref("Fs")) | read)
    assert find_unused_capabilities(old, new) == ["clientCapabilities.fs.watch (v1)"]
