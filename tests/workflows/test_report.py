"""The report of CI on a branch that changes the schema, and the comment with it."""

from __future__ import annotations

import json

import pytest

from tests.support.workflows import Workflow

USER_CODE = "tests/typing/user_code"
DIFF = """
diff:
	@echo 'report on $(USER_CODE) since $(BASE), $(FORMAT), $(FAIL_ON)'
	@test ! -e breaking
"""


def report(workflow: Workflow) -> int:
    workflow.git("fetch", "--quiet")
    return workflow.run("report", INTO="main", USER_CODE=USER_CODE)


@pytest.mark.parametrize("breaking", [True, False])
def test_a_report_is_written_and_fails_on_breaking_changes_with_annotations(
    workflow: Workflow, breaking: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    workflow.commit({"Makefile": DIFF, f"{USER_CODE}/client.py": ""}, push=["main"])
    workflow.git("switch", "--quiet", "--create", "topic")
    workflow.commit({"schema/v1.json": "{}"} | ({"breaking": ""} if breaking else {}))
    assert (report(workflow) != 0) is breaking
    base = workflow.git("rev-parse", "--short", "main")
    text = f"report on {USER_CODE} since {base}, markdown, breaking\n"
    assert (workflow.summary, workflow.outputs) == (f"{text}\n", {"base": base})
    assert (workflow.home / "report/report.md").read_text("utf-8") == text
    assert (f"{base}, github, breaking\n" in capfd.readouterr().out) is breaking


def test_a_branch_that_changes_neither_schema_nor_generated_code_has_no_report(workflow: Workflow) -> None:
    workflow.git("switch", "--quiet", "--create", "topic")
    workflow.commit({"notes.md": "more"})
    assert (report(workflow), workflow.summary, workflow.outputs) == (0, "", {})


# The comment

COMMENTS = "api --paginate repos/acp/bindings/issues/7/comments --jq .[]"
BEGIN = "<!-- report of CI -->\n"


@pytest.fixture
def reported(workflow: Workflow) -> Workflow:
    """A run with a report, on a pull request with comments of somebody else and of another workflow."""
    (workflow.home / "report").mkdir()
    (workflow.home / "report/report.md").write_text("The report", "utf-8")
    workflow.answers[COMMENTS] = comment(0, "somebody", f"{BEGIN}theirs") + comment(1, "github-actions[bot]", "other")
    return workflow


def comment(number: int, login: str, body: str) -> str:
    return f"{json.dumps({'id': number, 'user': {'login': login}, 'body': body})}\n"


def test_the_first_report_is_a_new_comment(reported: Workflow) -> None:
    assert reported.run("comment", NUMBER="7") == 0
    assert reported.commands == [COMMENTS, f"pr comment 7 --body {BEGIN}The report"]


def test_a_new_report_replaces_only_the_previous_report(reported: Workflow) -> None:
    reported.answers[COMMENTS] = f"{reported.answers[COMMENTS]}{comment(2, 'github-actions[bot]', f'{BEGIN}old')}"
    assert reported.run("comment", NUMBER="7") == 0
    edit = f"api --silent --method PATCH repos/acp/bindings/issues/comments/2 --raw-field body={BEGIN}The report"
    assert reported.commands == [COMMENTS, edit]
