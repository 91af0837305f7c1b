"""A policy answers permission requests by rules, by asking, or by earlier decisions of the user."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from io import StringIO
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import PermissionPolicy, allow, ask, choose_option, reject
from acp_kit.client.permission_rules import Rule

ALL = "allow_once allow_always reject_once reject_always"


def _options(kinds: str) -> list[v1.PermissionOption]:
    return [
        v1.PermissionOption.model_validate({"optionId": kind, "name": kind, "kind": kind}) for kind in kinds.split()
    ]


def _request(options: str = ALL, session: str = "s", **call: Any) -> v1.RequestPermissionRequest:
    update = v1.ToolCallUpdate(**{"tool_call_id": "1", "kind": "read", "title": "Read a", **call})
    return v1.RequestPermissionRequest(session_id=session, tool_call=update, options=_options(options))


async def _answer(policy: PermissionPolicy, request: v1.RequestPermissionRequest) -> str:
    """Return the id of the chosen option, or "cancelled"."""
    outcome = (await policy.session_request_permission(request)).outcome
    return outcome.option_id if outcome.outcome == "selected" else outcome.outcome


class _User:
    """Answers each question with the next of some option ids, and records the titles of the tool calls."""

    def __init__(self, *answers: str | None) -> None:
        self._answers = list(answers)
        self.asked: list[str | None] = []

    async def __call__(self, request: v1.RequestPermissionRequest) -> str | None:
        self.asked.append(request.tool_call.title)
        await asyncio.sleep(0)
        return self._answers.pop(0)


def test_an_option_is_chosen_by_its_kind_in_the_order_of_preference() -> None:
    request = _request("reject_once allow_always allow_once")
    options = [*request.options, v1.PermissionOption(option_id="allow_forever", name="", kind="allow_once")]
    several = v1.RequestPermissionRequest(session_id="s", tool_call=request.tool_call, options=options)
    chosen = choose_option(several, "allow_once", "allow_always").outcome
    assert chosen == v1.RequestPermissionOutcomeSelected(option_id="allow_once")
    assert choose_option(request, "reject_always", "allow_always").outcome.option_id == "allow_always"
    assert choose_option(request, "reject_always").outcome == v1.RequestPermissionOutcomeCancelled()
    misleading = v1.PermissionOption(option_id="reject_once", name="Reject", kind="allow_always")
    only = v1.RequestPermissionRequest(session_id="s", tool_call=request.tool_call, options=[misleading])
    assert choose_option(only, "reject_once").outcome == v1.RequestPermissionOutcomeCancelled()


@pytest.mark.parametrize(
    ("policy", "answers"),
    [
        (PermissionPolicy(), {ALL: "reject_once", "allow_once": "cancelled", "reject_always": "reject_always"}),
        (PermissionPolicy(reject()), {ALL: "reject_once", "allow_always reject_always": "reject_always"}),
        (PermissionPolicy(allow()), {ALL: "allow_once", "allow_always reject_once": "reject_once"}),
        (PermissionPolicy(allow()), {"allow_always": "cancelled", "": "cancelled"}),
        (PermissionPolicy(allow(always=True)), {ALL: "allow_always", "allow_once": "allow_once"}),
        (PermissionPolicy(allow(always=True)), {"reject_once": "reject_once"}),
    ],
)
async def test_a_decision_chooses_an_option_or_rejects(policy: PermissionPolicy, answers: dict[str, str]) -> None:
    for options, answer in answers.items():
        assert await _answer(policy, _request(options)) == answer


async def test_what_is_allowed_but_offered_only_for_always_is_rejected_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    policy = PermissionPolicy(allow())
    for _ in range(3):
        assert await _answer(policy, _request("allow_always reject_once")) == "reject_once"
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "the agent only offers allow_always, reject_once" in record.message
    assert "Read a (kind read)" in record.message


async def test_the_first_rule_that_matches_decides() -> None:
    user = _User("allow_once")
    policy = PermissionPolicy(reject(under="/etc"), ask(kinds={"edit"}), allow(kinds={"edit", "read"}), ask=user)
    assert await _answer(policy, _request()) == "allow_once"
    assert await _answer(policy, _request(locations=[v1.ToolCallLocation(path="/etc/passwd")])) == "reject_once"
    assert user.asked == []
    assert await _answer(policy, _request(kind="edit", title="Edit a")) == "allow_once"
    assert user.asked == ["Edit a"]


@pytest.mark.parametrize("rule", [allow, lambda request: "yes", "allow"])
def test_what_is_no_rule_is_refused(rule: Any) -> None:
    with pytest.raises(TypeError, match="is not a rule"):
        PermissionPolicy(allow(), rule)


async def test_what_no_rule_matches_is_asked_or_rejected() -> None:
    rule = allow(kinds={"read"})
    assert await _answer(PermissionPolicy(rule), _request(kind="execute")) == "reject_once"
    assert await _answer(PermissionPolicy(rule, ask=_User("allow_once")), _request(kind="execute")) == "allow_once"
    with pytest.raises(ValueError, match="Pass ask="):
        PermissionPolicy(ask())


@pytest.mark.parametrize("answer", [None, "no such option"])
async def test_without_a_choice_of_the_user_the_tool_call_is_rejected(
    answer: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    policy = PermissionPolicy(ask=_User(answer, "allow_once"))
    assert await _answer(policy, _request()) == "reject_once"
    assert ("did not offer" in caplog.text) == (answer is not None)
    assert await _answer(policy, _request()) == "allow_once"


async def test_a_question_that_fails_rejects_the_tool_call(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_: v1.RequestPermissionRequest) -> str:
        raise RuntimeError("no display")

    assert await _answer(PermissionPolicy(ask=broken), _request()) == "reject_once"
    assert "no display" in caplog.text


async def test_the_end_of_the_input_rejects_the_tool_call_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def user(_: v1.RequestPermissionRequest) -> str:
        return input()

    monkeypatch.setattr("sys.stdin", StringIO())

    assert await _answer(PermissionPolicy(ask=user), _request()) == "reject_once"
    assert [(record.getMessage(), record.exc_info) for record in caplog.records] == [
        ("The input ended before the user chose an option. The tool call is rejected.", None)
    ]


@pytest.mark.parametrize(
    ("always", "again"), [("allow_always", "allow_once"), ("reject_always", "reject_once")], ids=["allow", "reject"]
)
async def test_always_applies_to_one_tool_in_one_session(always: str, again: str) -> None:
    user = _User(always, "allow_once", "reject_once", "allow_once", "reject_once")
    policy = PermissionPolicy(ask=user)
    tool = {"name": "read_file", "title": "Read a"}
    assert await _answer(policy, _request(**tool)) == always
    assert await _answer(policy, _request(**{**tool, "title": "Read b", "tool_call_id": "2"})) == again
    assert await _answer(policy, _request(**{**tool, "name": "write_file"})) == "allow_once"
    assert await _answer(policy, _request(session="other", **tool)) == "reject_once"
    assert await _answer(policy, _request()) == "allow_once"
    policy.forget("s")
    assert await _answer(policy, _request(**tool)) == "reject_once"
    policy.forget("never seen")


@pytest.mark.parametrize(
    ("first", "answer", "second"),
    [
        ({"name": "n"}, "allow_once", {"name": "n"}),
        ({"kind": "execute", "title": "ls"}, "allow_always", {"kind": "execute", "title": "rm -r /"}),
        ({"kind": "execute", "title": "ls"}, "allow_always", {"kind": "other", "title": "ls"}),
        ({"kind": None, "title": None}, "allow_always", {"kind": None, "title": None}),
    ],
    ids=["once", "another title", "another kind", "nothing known"],
)
async def test_what_was_not_decided_is_asked(first: dict[str, Any], answer: str, second: dict[str, Any]) -> None:
    policy = PermissionPolicy(ask=_User(answer, "reject_once"))
    assert [await _answer(policy, _request(**call)) for call in (first, second)] == [answer, "reject_once"]


SECRET = [v1.ToolCallLocation(path="/etc/passwd")]


async def test_rules_go_before_decisions_of_the_user() -> None:
    policy = PermissionPolicy(reject(under="/etc"), ask=_User("reject_always"))
    assert await _answer(policy, _request(name="n")) == "reject_always"
    policy = PermissionPolicy(allow(under="/etc"), ask=_User("reject_always"))
    assert await _answer(policy, _request(name="n")) == "reject_always"
    assert await _answer(policy, _request(name="n", locations=SECRET)) == "allow_once"


@pytest.mark.parametrize("rule", [reject(under="/etc"), ask(under="/etc")], ids=["reject", "ask"])
async def test_the_answer_is_not_always_if_a_rule_may_decide_otherwise_later(rule: Rule) -> None:
    user = _User("allow_always", "reject_once")
    policy = PermissionPolicy(rule, ask=user)
    answers = [await _answer(policy, _request(title=title, name="n")) for title in ("Read a", "Read b")]
    assert answers == ["allow_once", "allow_once"]
    assert user.asked == ["Read a"]
    if rule.decision == "reject":
        assert await _answer(policy, _request(name="n", locations=SECRET)) == "reject_once"


async def test_decisions_for_always_can_be_kept_and_restored() -> None:
    user = _User("allow_always", "reject_always")
    before, after = (PermissionPolicy(ask(under="/etc"), ask=user) for _ in range(2))
    await _answer(before, _request(name="n"))
    await _answer(before, _request(name="n", locations=SECRET))
    kept = [*before.items("s")]
    assert kept == [("name n", True), ("name n, asked by rule 1", False)]
    assert [*before.items("other")] == []
    for tool, allowed in kept:
        after.remember("s", tool, allowed=allowed)
    assert await _answer(after, _request(name="n")) == "allow_once"
    assert await _answer(after, _request(name="n", locations=SECRET)) == "reject_once"
    assert len(user.asked) == 2


async def test_a_tool_call_that_nothing_decides_about_is_logged_once_for_each_kind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    policy = PermissionPolicy(allow(kinds={"edit"}), reject(kinds={"delete"}))
    for kind in ("read", "edit", "delete", "read", "execute"):
        await _answer(policy, _request(kind=kind, title=f"{kind}\x1b[2J"))
    why = "no rule of the PermissionPolicy matches it, and it has no `ask`"
    assert [record.message for record in caplog.records] == [
        rf"Rejected {kind}\x1b[2J (kind {kind}): {why}" for kind in ("read", "execute")
    ]


async def test_questions_about_one_tool_come_one_after_the_other() -> None:
    user = _User("reject_once", "allow_always", "reject_once")
    policy = PermissionPolicy(ask=user)
    requests = [_request(name="n", title=str(number)) for number in range(4)]
    answers = await asyncio.gather(*(_answer(policy, request) for request in requests))
    assert answers == ["reject_once", "allow_always", "allow_once", "allow_once"]
    assert user.asked == ["0", "1"]


async def test_questions_about_unknown_tools_do_not_wait_for_each_other() -> None:
    both_asked = asyncio.Barrier(2)

    async def user(_: v1.RequestPermissionRequest) -> str:
        await both_asked.wait()
        return "allow_once"

    policy = PermissionPolicy(ask=user)
    requests = [_request(tool_call_id=id, title=None) for id in ("1", "2")]
    assert await asyncio.gather(*(_answer(policy, request) for request in requests)) == ["allow_once"] * 2


async def test_a_dialog_that_is_cancelled_by_itself_is_cancelled() -> None:
    async def user(_: v1.RequestPermissionRequest) -> str:
        raise asyncio.CancelledError

    assert await _answer(PermissionPolicy(ask=user), _request()) == "cancelled"


async def test_an_answer_after_the_cancellation_does_not_count() -> None:
    asked = asyncio.Event()

    async def user(_: v1.RequestPermissionRequest) -> str:
        asked.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "allow_always"

    policy = PermissionPolicy(ask=user)
    asking = asyncio.create_task(_answer(policy, _request(name="n")))
    await asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    asked.clear()
    again = asyncio.create_task(_answer(policy, _request(name="n")))
    await asked.wait()
    again.cancel()
    await asyncio.gather(again, return_exceptions=True)
