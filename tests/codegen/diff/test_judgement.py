"""Verdicts and texts that a maintainer would otherwise reverse or misread."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase

import pytest

from codegen.diff.report import Report, compare
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.rules import RULES, TODO
from codegen.diff.verdict.verdicts import Verdicts
from tests.codegen.diff.cases.methods import NONE, stable, without_extensions
from tests.support.codegen.build import STRING, Schema, array, model, ref, request, tagged, wraps
from tests.support.diff.cases import MAYBE, around, holds, may
from tests.support.diff.sides import side, side_of_schemas

FLAG: Schema = {"type": "boolean", "default": False}
CAPABILITY: Schema = {"anyOf": [ref("Capability"), {"type": "null"}]}
STDIO: Schema = {"Stdio": model(["command"], command=STRING)}


def between(old: Schema, new: Schema) -> Report:
    return compare(side(around("request", old)), side(around("request", new)))


def only(report: Report) -> Finding:
    (finding,) = report.findings
    return finding


def servers(title: str) -> Schema:
    server = {"anyOf": [{"title": title, **wraps("Stdio")}, {"title": "http", **model(["url"], url=STRING)}]}
    return around("request", model(server=ref("Server"))) | {"Server": server} | STDIO


def test_a_title_that_names_no_class_is_a_changed_description() -> None:
    report = compare(side(servers("stdio")), side(servers("local")))
    assert (report.findings, report.bump, report.docs_only) == ((), "patch", {"v1": 1})


def test_a_title_that_names_a_class_is_a_renamed_member() -> None:
    old, new = ({**servers("stdio"), "Wide": {**wraps("Server"), **model(x=STRING)}} for _ in "ab")
    new["Server"] = servers("local")["Server"]
    report = compare(side(old), side(new))
    assert [(finding.rule, finding.change) for finding in report.findings] == [
        ("union-member-renamed", "WideStdio -> WideLocal")
    ]


def test_properties_without_descriptions_are_not_one_renamed_property_if_their_names_differ() -> None:
    report = between(model(cwd=STRING), model(label=STRING))
    assert {finding.rule for finding in report.findings} == {"property-optional-removed", "property-optional-added"}


def test_a_change_in_a_definition_that_contains_itself_is_one_finding() -> None:
    old, new = (
        {
            **around("request", model(node=ref("Node"))),
            "Node": model(children=array(ref("Node")), **properties),
        }
        for properties in ({}, {"label": STRING})
    )
    assert only(compare(side(old), side(new))).rule == "property-optional-added"


def test_a_definition_that_only_union_members_wrap_is_refused_in_a_whole_message() -> None:
    old, new = (
        {
            **around("request", model(["block"], block=ref("Block"))),
            "Block": {"anyOf": [tagged("type", "text", "Text")]},
            "Text": model(required, text=STRING),
        }
        for required in ([], ["text"])
    )
    refused_by_new = only(compare(side(old), side(new))).refused[1]
    assert json.loads(refused_by_new) == {"method": "session/new", "params": {"block": {"type": "text"}}}


def test_a_property_with_another_type_null_and_default_is_one_finding() -> None:
    capability = {"Capability": model()}
    old, new = (side(around("request", may(type_)) | capability) for type_ in (FLAG, CAPABILITY))
    finding = only(compare(old, new))
    assert (finding.rule, finding.verdicts) == ("type-changed", Verdicts.of("BBBBS"))
    assert finding.change == "x: bool = false -> x: Capability | None (optional)"


def test_null_and_a_limit_have_texts_of_their_own() -> None:
    report = between(may({"type": "string"}), may({"type": ["string", "null"], "maxLength": 3}))
    assert {finding.rule: finding.change for finding in report.findings} == {
        "nullable-added": "str -> str | None",
        "constraint-tightened": "str -> Annotated[str, Field(max_length=3)] | None",
    }


def test_the_text_of_a_new_property_has_its_default() -> None:
    finding = only(between(model(), may(FLAG)))
    assert finding.change == "+ x: bool = false"


@pytest.mark.parametrize(
    ("old", "new", "sentence", "change"),
    [
        ("A.", "A. Use `y` until 3.0.", "It is deprecated now.", "+ deprecated: Use `y` until 3.0."),
        ("", "", "It is deprecated now.", "+ deprecated"),
    ],
)
def test_deprecations_name_their_replacement(old: str, new: str, sentence: str, change: str) -> None:
    before, after = may({**MAYBE, "description": old}), may({**MAYBE, "description": new, "deprecated": True})
    finding = only(between(before, after))
    assert (finding.rule, finding.sentence, finding.change) == ("property-deprecated", sentence, change)
    undone = only(between(after, before))
    assert (undone.sentence, undone.change) == ("It is no longer deprecated.", "- deprecated")


def test_a_removed_method_tells_callers_and_handlers_different_things() -> None:
    mode = stable(request("session/set_mode", "SetMode", model(["modeId"], modeId=STRING)))
    finding = only(compare(side_of_schemas(mode), side_of_schemas(NONE)))
    assert finding.todo == {"clients": "Stop calling it.", "agents": "Remove its handler."}
    assert finding.refused == ("", '{"method": "session/set_mode", "params": {"modeId": "x"}}')


def test_a_finding_about_a_message_names_its_changed_part() -> None:
    finding = only(compare(side_of_schemas(NONE), side_of_schemas(without_extensions("ClientRequest"))))
    assert (finding.subject, finding.change) == (
        "message ClientRequest",
        "params: ExtRequest (optional) -> params: payloads (optional)",
    )


def test_a_new_member_of_a_union_in_a_union_breaks_the_messages_of_both() -> None:
    def updates(*members: Schema) -> Schema:
        outer = {"anyOf": [tagged("kind", "more", "More"), tagged("kind", "text")]}
        return around("request", model(["update"], update=ref("Update"))) | {
            "Update": outer,
            "More": {"anyOf": [*members]},
        }

    on, off = tagged("state", "on"), tagged("state", "off")
    finding = only(compare(side(updates(on)), side(updates(on, off))))
    assert (finding.subject, finding.verdicts, finding.methods) == (
        "More:off",
        Verdicts.of("BSSBS"),
        ("session/new",),
    )
    assert json.loads(finding.refused[0])["params"] == {"update": {"state": "off", "kind": "more"}}


def test_if_members_get_a_tag_the_messages_of_each_show_that_member() -> None:
    def union(*members: Schema) -> Schema:
        contents = {"Text": model(["text"], text=STRING), "Blob": model(["blob"], blob=STRING)}
        return around("request", model(["x"], x=ref("Either"))) | contents | {"Either": {"anyOf": [*members]}}

    untagged = union(*({"title": title, **wraps(name)} for title, name in (("One", "Text"), ("Two", "Blob"))))
    report = compare(side(untagged), side(union(tagged("type", "text", "Text"), tagged("type", "blob", "Blob"))))
    assert {finding.subject: json.loads(finding.refused[1])["params"]["x"] for finding in report.findings} == {
        "Either:text": {"text": ""},
        "Either:blob": {"blob": ""},
    }


def test_a_default_that_restates_the_default_of_a_new_property_is_safe() -> None:
    def holding(default: Schema, **properties: Schema) -> Schema:
        holder = model(capabilities={**ref("Capabilities"), "default": default})
        return around("request", holder) | {"Capabilities": model(**properties)}

    old, new = holding({"fs": False}, fs=FLAG), holding({"fs": False, "auth": False}, fs=FLAG, auth=FLAG)
    report = compare(side(old), side(new))
    assert {finding.rule: finding.verdicts for finding in report.findings} == {
        "property-default-changed": Verdicts(),
        "property-optional-added": Verdicts(),
    }
    other = holding({"fs": True}, fs=FLAG)
    assert only(compare(side(old), side(other))).verdicts == Verdicts.of("RRSRS")


def test_a_renamed_property_whose_type_got_a_name_is_one_finding() -> None:
    old, new = (
        around("request", model([key], **{key: type_})) for key, type_ in (("id", STRING), ("itemId", ref("Id")))
    )
    report = compare(side(old), side(new | {"Id": STRING}))
    assert [(finding.rule, finding.change) for finding in report.findings if finding.before] == [
        ("property-required-renamed", "id: str -> itemId: Id")
    ]


def test_a_property_that_became_required_and_not_null_is_one_finding() -> None:
    finding = only(between(may(MAYBE), holds(STRING)))
    assert (finding.rule, finding.verdicts) == ("property-became-required", Verdicts.of("SBBSS"))
    assert finding.change == "x: str | None (optional) -> x: str"
    undone = only(between(holds(STRING), may(MAYBE)))
    assert (undone.rule, undone.verdicts) == ("property-became-optional", Verdicts.of("BSSBS"))


def test_null_and_a_removed_default_are_one_finding() -> None:
    finding = only(between(may({**STRING, "default": "a"}), may(MAYBE)))
    assert (finding.rule, finding.verdicts) == ("nullable-added", Verdicts.of("BRSBS"))
    assert finding.change == 'x: str = "a" -> x: str | None (optional)'


def test_every_advice_is_the_first_for_some_rule() -> None:
    used = {next(pattern for pattern in TODO if fnmatchcase(rule, pattern)) for rule in RULES}
    assert used == set(TODO)
