"""Issues about failures, updates of requirements, schedules that stay enabled, and whether there is a site."""

from __future__ import annotations

import pytest

from tests.support.workflows import Workflow, failure

LIST = "issue list --app github-actions --label weekly --state open"
RUN = "https://github.test/runs/7"


def keep_issue(workflow: Workflow, number: str, *, failed: bool) -> list[str]:
    """Run the step where an issue is open or none (""), and return the commands that change something."""
    workflow.answers |= {LIST: number, "repo view": "true"}
    given = {"LABEL": "weekly", "TITLE": "A job fails", "TEXT": "It failed.", "RUN": RUN}
    assert workflow.run("issue", FAILED=str(failed).lower(), **given) == 0
    return workflow.writes


def test_a_failure_opens_an_issue(workflow: Workflow) -> None:
    label, create = keep_issue(workflow, "", failed=True)
    assert label == "label create weekly --force --color d93f0b"
    assert create.startswith(
        f"issue create --title A job fails --label weekly --body It failed.\n\nSee [the run]({RUN})."
    )


def test_a_later_failure_updates_the_open_issue(workflow: Workflow) -> None:
    (edit,) = keep_issue(workflow, "3", failed=True)
    assert edit.startswith(f"issue edit 3 --body It failed.\n\nSee [the run]({RUN}).")


def test_the_next_run_that_works_closes_the_issue(workflow: Workflow) -> None:
    assert keep_issue(workflow, "3", failed=False) == [f"issue close 3 --comment It works again: {RUN}"]


def test_only_enabled_workflows_of_the_project_are_enabled_again(workflow: Workflow) -> None:
    listing = 'workflow list --json id,path --jq .[] | select(.path | startswith(".github/")).id'
    workflow.answers[listing] = "1\n3"
    assert workflow.run("schedules") == 0
    path = "api --silent --method PUT repos/acp/bindings/actions/workflows"
    assert workflow.commands == [listing, f"{path}/1/enable", f"{path}/3/enable"]


def test_new_versions_of_packages_become_a_commit(workflow: Workflow) -> None:
    for name in ("dev", "test"):
        path = workflow.clone / f"requirements/{name}.txt"
        path.write_text("jinja2==99.0 \\\n    --hash=sha256:1\n", "utf-8")
    assert workflow.run("lock") == 0
    assert workflow.outputs == {"changed": "true"}
    report = (workflow.home / "dependencies/report.md").read_text("utf-8")
    assert report == "```diff\n-jinja2==3.1\n+jinja2==99.0\n```\n"
    assert workflow.git("show", "--format=%s", "--name-only", "dependencies").split("\n\n") == [
        "Update requirements",
        "requirements/dev.txt\nrequirements/test.txt",
    ]
    assert (workflow.home / "dependencies/bundle").exists()


# The site


@pytest.mark.parametrize("has_site", [True, False])
def test_the_site_is_published_only_if_the_repository_has_one(workflow: Workflow, has_site: bool) -> None:
    workflow.answers["api --silent repos/acp/bindings/pages"] = "" if has_site else failure("gh: Not Found (HTTP 404)")
    assert workflow.run("site") == 0
    assert workflow.outputs == ({"exists": "true"} if has_site else {})
    assert ("Not published: choose GitHub Actions" in workflow.summary) is not has_site
