"""Which definitions and methods are the same under a new name: renames need evidence."""

from __future__ import annotations

from itertools import combinations

import pytest

from codegen.diff.match import are_similar_names, match
from codegen.diff.report import compare
from codegen.regen import read_schema
from tests.support.codegen.build import STRING, Schema, acp_schema, enum, model, other, ref, request, tagged
from tests.support.diff.sides import side, side_of
from tests.support.releases import DIFFERENT
from tests.support.scale import STRESS

RENAMED = [
    ("workingDir", "workDir"),
    ("id", "sessionId"),
    ("sessionId", "sessionIdentifier"),
    ("SetModeRequest", "SetSessionModeRequest"),
    ("SetModeRequest", "SetModesRequest"),
    ("color", "colour"),
    ("mimeType", "mimetype"),
    ("session/setMode", "session/set_mode"),
]
OTHERS = [
    ("maxTokens", "minTokens"),
    ("startLine", "endLine"),
    ("SetModeResponse", "AskResponse"),
    ("SetModeResponse", "SetModelResponse"),
    ("modeId", "modelId"),
    ("CloseSessionRequest", "DeleteSessionRequest"),
    ("KillResponse", "FillResponse"),
    ("McpConnectionId", "CompactionId"),
    ("AskRequest", "AskResponse"),
    ("oldText", "newText"),
    ("session/close", "session/delete"),
]
# All renames that are found between any two releases. Each is judged by hand: `ClientCapabilities.auth` had the one
# and has the other, with the same description.
TRUE = {
    ("v2_draft", "AuthCapabilities", "ClientAuthCapabilities"),
    ("v2_draft_unstable", "AuthCapabilities", "ClientAuthCapabilities"),
}
# Definitions that had been taken for renamed: both are plain strings. MCP connections have no id since 1.6.0, and
# compactions are new in 1.4.0.
FALSE = {("v1_unstable", "McpConnectionId", "CompactionId"), ("v2_draft_unstable", "McpConnectionId", "CompactionId")}


@pytest.mark.parametrize(("old", "new"), RENAMED)
def test_a_similar_name_can_be_a_new_name(old: str, new: str) -> None:
    assert are_similar_names(old, new)
    assert are_similar_names(new, old)


@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_a_name_that_only_shares_words_or_letters_is_not_a_new_name(old: str, new: str) -> None:
    assert not are_similar_names(old, new)
    assert not are_similar_names(new, old)


def renames(old: Schema, new: Schema) -> dict[str, str]:
    matching = match(*(read_schema(acp_schema(side), "v1") for side in (old, new)))
    return {before: after for before, after in matching.items() if before != after}


def described(text: str, definition: Schema) -> Schema:
    return {**definition, "description": text}


PAIR = model(["sessionId", "terminalId"], sessionId=STRING, terminalId=STRING)
VALUES: Schema = enum("low", "high")
UNION: Schema = {"anyOf": [tagged("type", "text", "Text"), tagged("type", "none"), other("type", "text", "none")]}
TEXT: Schema = {"Text": model(["text"], text=STRING)}
MATCHED: dict[str, tuple[Schema, Schema, dict[str, str]]] = {
    "empty objects with similar names": (
        {"SetMode": model()},
        {"SetSessionMode": model()},
        {"SetMode": "SetSessionMode"},
    ),
    "empty objects with the same description": (
        {"Ack": described("Says yes.", model())},
        {"Nod": described("Says yes.", model())},
        {"Ack": "Nod"},
    ),
    "strings with the same description": (
        {"ThreadId": described("Of a talk.", STRING)},
        {"TalkKey": described("Of a talk.", STRING)},
        {"ThreadId": "TalkKey"},
    ),
    "objects with several properties": ({"Kill": PAIR}, {"End": PAIR}, {"Kill": "End"}),
    "enums": ({"Effort": VALUES}, {"Level": VALUES}, {"Effort": "Level"}),
    "a union with its inline members": (
        {**TEXT, "Block": UNION},
        {**TEXT, "Content": UNION},
        {"Block": "Content", "BlockText": "ContentText", "BlockNone": "ContentNone", "BlockOther": "ContentOther"},
    ),
}
UNMATCHED: dict[str, tuple[Schema, Schema]] = {
    "empty objects": ({"SetModeResponse": model()}, {"AskResponse": model()}),
    "empty objects with names that differ in a letter": ({"SetMode": model()}, {"SetModel": model()}),
    "empty objects with different descriptions": (
        {"Ack": described("Says yes.", model())},
        {"Nod": described("Says no.", model())},
    ),
    "objects with one property": ({"Close": model(id=STRING)}, {"Delete": model(id=STRING)}),
    "strings": ({"McpConnectionId": STRING}, {"CompactionId": STRING}),
    "a structure that a third definition has": ({"Kill": PAIR, "Release": PAIR}, {"Pause": PAIR, "Release": PAIR}),
    "unions whose members differ": (
        {**TEXT, "Block": UNION},
        {**TEXT, "Content": {"anyOf": [tagged("type", "text"), tagged("type", "none"), other("type", "text", "none")]}},
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), MATCHED.values(), ids=MATCHED)
def test_equal_structures_with_evidence_are_one_renamed_definition(
    old: Schema, new: Schema, expected: dict[str, str]
) -> None:
    assert renames(old, new) == expected


@pytest.mark.parametrize(("old", "new"), UNMATCHED.values(), ids=UNMATCHED)
def test_equal_structures_without_evidence_are_not_one_renamed_definition(old: Schema, new: Schema) -> None:
    assert renames(old, new) == {}


def takes_a_session(wire: str, name: str) -> Schema:
    return request(wire, name, model(["session"], session=ref("Session"))) | {"Session": STRING}


@pytest.mark.parametrize(("name", "renamed"), [("Mode", True), ("Option", False)])
def test_a_method_of_another_name_is_the_same_if_its_params_are(name: str, renamed: bool) -> None:
    old = takes_a_session("session/set_mode", "Mode")
    new = takes_a_session("session/set_config_option", name)
    rules = {finding.rule for finding in compare(side(old), side(new)).findings}
    assert ("method-renamed" in rules) is renamed


def test_the_params_and_the_result_of_a_method_may_have_other_names_and_properties() -> None:
    old = request("session/set_mode", "Mode", model(mode=STRING), model(before=STRING))
    new = request("session/set_mode", "Choose", model(to=STRING), model(chosen=STRING))
    assert renames(old, new) == {"ModeRequest": "ChooseRequest", "ModeResponse": "ChooseResponse"}


@pytest.mark.test_all
@pytest.mark.slow
@pytest.mark.stress
@pytest.mark.xdist_group("releases")
def test_every_rename_between_two_releases_is_a_true_one() -> None:
    names: set[tuple[str, str, str]] = set()
    possible: set[tuple[str, str, str]] = set()
    # The two have some of FALSE and some of TRUE.
    pairs = combinations(DIFFERENT, 2) if STRESS else [("1.3.0", "1.4.0"), ("2.0.0", "2.1.0")]
    for sides in (tuple(map(side_of, pair)) for pair in pairs):
        for profile in sides[0].profiles.keys() & sides[1].profiles.keys():
            old, new = (side.profiles[profile].schema for side in sides)
            names |= {(profile, before, after) for before, after in match(old, new).items() if before != after}
            possible |= {
                value
                for value in FALSE
                if value[1] in old.definitions and value[2] in new.definitions.keys() - old.definitions.keys()
            }
    assert names == TRUE if STRESS else set() < names <= TRUE
    assert possible == FALSE if STRESS else possible and not possible & names
