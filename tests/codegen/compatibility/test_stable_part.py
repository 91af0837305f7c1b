"""The stable part of an unstable schema is what upstream published as the stable schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codegen.compatibility.check import with_stable_profile
from codegen.compatibility.stable_part import stable_part
from tests.support.codegen.build import STRING, acp_schema, model, ref
from tests.support.diff.released import side_of
from tests.support.diff.sides import side
from tests.support.releases import schemas_of

UNSTABLE = {"description": "**UNSTABLE**\n\nIt may change."}
# The envelopes of proxies are left without any message.
LEFT = {"ProxyNotification", "ProxyRequest", "ProxyResponse"}


def without_docs(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: without_docs(each) for key, each in node.items() if key not in ("description", "title")}
    return [without_docs(each) for each in node] if isinstance(node, list) else node


@pytest.mark.slow
@pytest.mark.xdist_group("releases")
@pytest.mark.parametrize("release", ["2.0.0", "2.1.0", "2.2.0", "2.3.0"])
def test_the_stable_part_of_a_release_is_its_stable_schema(release: str) -> None:
    published, unstable = (
        json.loads((schemas_of(release) / f"v1/{file}").read_bytes())
        for file in ("schema.json", "schema.unstable.json")
    )
    found = without_docs(stable_part(unstable)["$defs"])
    expected = without_docs(published["$defs"])
    assert {name: each for name, each in found.items() if name not in LEFT} == {
        name: each for name, each in expected.items() if name not in LEFT
    }


@pytest.mark.slow
@pytest.mark.xdist_group("releases")
def test_an_older_release_gets_a_stable_profile() -> None:
    found = with_stable_profile(side_of("1.3.0")).profiles
    assert list(found) == ["v1", "v1_unstable", "v2_draft_unstable"]
    assert {"session/new", "session/prompt"} < {each.wire for each in found["v1"].schema.methods}
    assert "session/fork" not in {each.wire for each in found["v1"].schema.methods}


def test_a_side_with_a_stable_profile_is_left_alone() -> None:
    found = side({"Text": model()})
    assert with_stable_profile(found) is found


def test_marked_definitions_and_properties_and_what_only_they_use_are_left_out() -> None:
    schema = acp_schema({
        "NewSessionRequest": {
            **model(["cwd", "more"], cwd=STRING, more={**UNSTABLE, **ref("Only")}, holder=ref("Holder")),
            "x-side": "agent",
            "x-method": "session/new",
        },
        "NewSessionResponse": {**model(), "x-side": "agent", "x-method": "session/new"},
        "ForkSessionRequest": {**UNSTABLE, **model(), "x-side": "agent", "x-method": "session/fork"},
        "ForkSessionResponse": {**model(), "x-side": "agent", "x-method": "session/fork"},
        "Holder": model(required=STRING),
        "Only": model(),
    })  # fmt: skip
    found = stable_part(schema)["$defs"]
    assert not {"ForkSessionRequest", "ForkSessionResponse", "Only"} & found.keys()
    assert found["NewSessionRequest"]["required"] == ["cwd"]
    assert list(found["NewSessionRequest"]["properties"]) == ["cwd", "holder"]
    assert found["Holder"] == model(required=STRING)


def test_defaults_have_no_marked_properties() -> None:
    inner = model(shown={"type": "boolean"}, hidden={**UNSTABLE, "type": "boolean"})
    outer = model(inner={**ref("Inner"), "default": {"shown": False, "hidden": False}})
    request = {**outer, "x-side": "agent", "x-method": "session/new"}
    response = {**model(), "x-side": "agent", "x-method": "session/new"}
    schema = acp_schema({"NewSessionRequest": request, "NewSessionResponse": response, "Inner": inner})
    found = stable_part(schema)["$defs"]
    assert found["NewSessionRequest"]["properties"]["inner"]["default"] == {"shown": False}
