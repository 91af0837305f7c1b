"""New parts of messages that are sent only to peers that advertise a new capability: safe on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from codegen.diff.report import compare
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import BREAKING, SAFE
from tests.codegen.diff.cases.methods import notification, stable
from tests.support.codegen.build import STRING, Schema, array, enum, initialize, model, ref, request, tagged, wraps
from tests.support.diff.sides import side_of_schemas

FLAG: Schema = {"type": "boolean"}
GATE = "clientCapabilities.session.notices"
TO_CLIENT = "Agents MUST only send this update when the Client advertised the `session.notices` Client capability."
TO_AGENT = "Clients MUST only send this when the Agent advertises `notices`."
BY_DEFINITION = "Agents MUST only send this when the Client advertised [`ClientSession::notices`]."


def advertising(*flags: str) -> Schema:
    """Return `initialize`, in which both sides can advertise these capabilities."""
    flag: Schema = dict.fromkeys(flags, FLAG)
    return {
        **initialize(
            {"clientCapabilities": ref("ClientCapabilities")}, {"agentCapabilities": ref("AgentCapabilities")}
        ),
        "ClientCapabilities": model(session=ref("ClientSession")),
        "ClientSession": model(**flag),
        "AgentCapabilities": model(**flag),
    }


def union(*members: Schema, **keywords: Any) -> Schema:
    return {"anyOf": [tagged("kind", "text"), *members], **keywords}


def notice(text: str) -> Schema:
    return tagged("kind", "notice", description=text)


def updates(update: Schema, **more: Schema) -> Schema:
    """Return `session/update` with such an update."""
    return notification("session/update", "Session", "client", model(update=update)) | more


ITEMS = array({"anyOf": [ref("Update"), {"type": "null"}]})
# The old and the new definitions, and the gate in the report.
GATED: dict[str, tuple[Schema, Schema, str]] = {
    "a member of a union": (
        updates(ref("Update"), Update=union()),
        updates(ref("Update"), Update=union(notice(TO_CLIENT))),
        GATE,
    ),
    "a member among nullable items": (
        updates(ITEMS, Update=union()),
        updates(ITEMS, Update=union(notice(BY_DEFINITION))),
        GATE,
    ),
    "a member of the params' own union": (
        request("session/request_permission", "Permission", union(), on="client"),
        request("session/request_permission", "Permission", union(notice(TO_CLIENT)), on="client"),
        GATE,
    ),
    "a member of a union in a union": (
        updates(ref("Update"), Update=union(tagged("kind", "more", "More")), More={"anyOf": [tagged("state", "on")]}),
        updates(
            ref("Update"),
            Update=union(tagged("kind", "more", "More")),
            More={"anyOf": [tagged("state", "on"), tagged("state", "off", description=TO_CLIENT)]},
        ),
        GATE,
    ),
    "a member of a result": (
        request("session/new", "NewSession", None, model(parts=array(ref("Part")))) | {"Part": union()},
        request("session/new", "NewSession", None, model(parts=array(ref("Part"))))
        | {"Part": union(notice(TO_CLIENT))},
        GATE,
    ),
    "a member that refers to a definition with the text": (
        updates(ref("Update"), Update=union()),
        updates(
            ref("Update"),
            Update=union(tagged("kind", "notice", "Notice")),
            Notice={**model(title=STRING), "description": TO_CLIENT},
        ),
        GATE,
    ),
    "a member that is sent to the agent": (
        request("session/prompt", "Prompt", model(prompt=wraps("Block"))) | {"Block": union()},
        request("session/prompt", "Prompt", model(prompt=wraps("Block"))) | {"Block": union(notice(TO_AGENT))},
        "agentCapabilities.notices",
    ),
}


def added(old: Schema, new: Schema) -> Finding:
    """Return the finding about the new member."""
    findings = compare(side_of_schemas(stable(old)), side_of_schemas(stable(new))).findings
    (finding,) = (finding for finding in findings if finding.rule == "union-closed-member-added")
    return finding


@pytest.mark.parametrize(("old", "new", "gate"), GATED.values(), ids=GATED)
def test_additions_behind_a_new_capability_are_safe_and_name_it(old: Schema, new: Schema, gate: str) -> None:
    finding = added(advertising() | old, advertising("notices") | new)
    assert (finding.verdicts.old_peer, finding.verdicts.new_peer) == (SAFE, SAFE)
    assert finding.after.endswith(f", needs {gate}")
    assert finding.refused == ("", "")


@pytest.mark.parametrize(("old", "new", "gate"), GATED.values(), ids=GATED)
def test_what_needed_a_removed_capability_breaks_no_messages_when_it_is_removed(
    old: Schema, new: Schema, gate: str
) -> None:
    sides = [side_of_schemas(stable(part)) for part in (advertising("notices") | new, advertising() | old)]
    (finding,) = (finding for finding in compare(*sides).findings if finding.rule == "union-closed-member-removed")
    assert (finding.verdicts.old_peer, finding.verdicts.new_peer, finding.refused) == (SAFE, SAFE, ("", ""))
    assert finding.before.endswith(f", needs {gate}")
    kept = [side_of_schemas(stable(part)) for part in (advertising("notices") | new, advertising("notices") | old)]
    (finding,) = (finding for finding in compare(*kept).findings if finding.rule == "union-closed-member-removed")
    assert finding.verdicts.new_peer is BREAKING


def test_a_new_member_that_needs_a_new_capability_is_misread_by_nobody() -> None:
    plain = {"title": "plain", **model(text=STRING)}
    old, new = (updates(ref("Update"), Update={"anyOf": [*parts, plain]}) for parts in ([], [notice(TO_CLIENT)]))
    findings = compare(
        *(side_of_schemas(stable(advertising(*flags) | part)) for flags, part in (((), old), (("notices",), new)))
    ).findings
    assert "union-member-shadowed" not in {finding.rule for finding in findings}


@pytest.mark.parametrize("is_new", [True, False])
def test_a_member_after_one_that_needs_a_capability_may_be_misread(is_new: bool) -> None:
    plain, other = {"title": "plain", **model(text=STRING)}, tagged("kind", "more")
    parts = (([], []), (["notices"], [notice(TO_CLIENT), other]))
    sides = [
        side_of_schemas(stable(advertising(*flags) | updates(ref("Update"), Update={"anyOf": [*members, plain]})))
        for flags, members in (parts if is_new else parts[::-1])
    ]
    (finding,) = (finding for finding in compare(*sides).findings if finding.rule == "union-member-shadowed")
    assert finding.before == "UpdateMore"


def test_what_old_peers_may_have_advertised_breaks_them() -> None:
    old, new, _ = GATED["a member of a union"]
    finding = added(advertising("notices") | old, advertising("notices") | new)
    assert finding.verdicts.old_peer is BREAKING
    assert "needs" not in finding.after


@pytest.mark.parametrize("side", ["client", "both", "protocol"])
def test_what_is_also_sent_without_the_capability_breaks_old_peers(side: str) -> None:
    old, new, _ = GATED["a member that is sent to the agent"]
    also = notification("other/update", "Other", side, model(update=wraps("Block")))
    assert added(advertising() | old | also, advertising("notices") | new | also).verdicts.old_peer is BREAKING


def test_a_value_of_an_enum_can_need_a_capability() -> None:
    def modes(*values: str) -> Schema:
        mode = enum(*values)
        return request("session/new", "NewSession", model(mode=wraps("SystemPromptMode"))) | {"SystemPromptMode": mode}

    agent = {
        **initialize(result={"agentCapabilities": ref("A")}),
        "A": model(sessionCapabilities=ref("B")),
        "B": model(systemPrompt=ref("C")),
        "C": model(mode=ref("D")),
    }
    old = stable(agent | {"D": model()} | modes("append"))
    new = stable(agent | {"D": model(override=FLAG)} | modes("append", "override"))
    findings = compare(side_of_schemas(old), side_of_schemas(new)).findings
    (finding,) = (finding for finding in findings if finding.rule == "enum-closed-value-added")
    assert finding.verdicts.old_peer is SAFE
    assert finding.after == "override, needs agentCapabilities.sessionCapabilities.systemPrompt.mode.override"
    findings = compare(side_of_schemas(new), side_of_schemas(old)).findings
    (finding,) = (finding for finding in findings if finding.rule == "enum-closed-value-removed")
    assert (finding.verdicts.new_peer, finding.before) == (
        SAFE,
        "override, needs agentCapabilities.sessionCapabilities.systemPrompt.mode.override",
    )


def test_the_report_names_the_capability_of_a_new_property() -> None:
    old = request("session/prompt", "Prompt", model())
    new = request("session/prompt", "Prompt", model(note={**STRING, "description": TO_AGENT}))
    sides = [
        side_of_schemas(stable(definitions)) for definitions in (advertising() | old, advertising("notices") | new)
    ]
    (finding,) = (finding for finding in compare(*sides).findings if finding.subject == "PromptRequest.note")
    text = "note: str (optional), needs agentCapabilities.notices"
    assert finding.after == text
    (finding,) = (finding for finding in compare(*sides[::-1]).findings if finding.subject == "PromptRequest.note")
    assert (finding.before, finding.verdicts.new_peer) == (
        "note: str (optional), needs agentCapabilities.notices",
        SAFE,
    )
