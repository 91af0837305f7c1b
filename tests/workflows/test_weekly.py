"""The weekly workflow: an issue about failures, updates of requirements.txt, schedules that stay enabled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.workflows.hub import Hub
from tests.support.workflows.jobs import Job, run_job

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("upgrade")]

FAILED = "contains(needs.*.result, 'failure')"
CANCELLED = "contains(needs.*.result, 'cancelled')"


def after_a_run(hub: Hub, *, failed: bool) -> Job:
    found = hub.job("weekly.yml", "issue", **{FAILED: "true" if failed else "", CANCELLED: "" if failed else "false"})
    assert not found.failed, found.log
    return found


def test_one_issue_is_open_while_a_weekly_job_fails(hub: Hub) -> None:
    after_a_run(hub, failed=False)
    assert hub.writes == []
    for _ in range(2):
        after_a_run(hub, failed=True)
    (issue,) = hub.issues
    assert (issue["title"], issue["state"]) == ("A weekly job fails", "open")
    assert "[the run](https://github.test/acp/bindings/actions/runs/7)" in issue["body"]
    after_a_run(hub, failed=False)
    assert hub.issues[0]["state"] == "closed"
    after_a_run(hub, failed=True)
    assert [each["state"] for each in hub.issues] == ["closed", "open"]


def test_an_issue_that_somebody_else_has_opened_is_left_alone(hub: Hub) -> None:
    theirs = {"number": 1, "url": "", "state": "open", "labels": [{"name": "weekly"}], "author": "ana", "body": "mine"}
    hub.write(issues=[theirs])
    after_a_run(hub, failed=True)
    after_a_run(hub, failed=False)
    assert hub.issues[0] == theirs
    assert hub.issues[1]["state"] == "closed"


def test_a_fork_without_issues_says_so_in_the_summary(hub: Hub) -> None:
    hub.write(settings={**hub.settings, "issues": False})
    assert "This repository has no issues" in after_a_run(hub, failed=True).summary
    assert hub.writes == []


def test_workflows_stay_enabled_but_for_those_that_somebody_disabled(hub: Hub) -> None:
    kept = hub.job("weekly.yml", "schedules")
    assert not kept.failed, kept.log
    assert hub.writes == ["enable 1"]


def lock(hub: Hub, script: str) -> Job:
    """Run the job that updates requirements.txt. A script replaces `make lock`, which needs a registry."""
    (hub.home / "bin/make").write_text(f"#!/bin/sh\n[ \"$*\" = 'lock UPGRADE=1' ] && {script}\n", "utf-8")
    (hub.home / "bin/make").chmod(0o755)
    return run_job("weekly.yml", "lock", hub.checkout(), hub.home)


def test_new_versions_of_packages_become_a_pull_request(hub: Hub) -> None:
    locked = lock(hub, "sed -i 's/^jinja2==.*/jinja2==99.0 \\\\/' requirements.txt")
    assert not locked.failed, locked.log
    assert locked.outputs["changed"]
    proposed = hub.job("weekly.yml", "propose")
    assert not proposed.failed, proposed.log
    (pull,) = hub.pulls
    assert (pull["title"], pull["head"]) == ("Update requirements.txt", "dependencies")
    assert "+jinja2==99.0" in pull["body"]
    assert [each["name"] for each in pull["labels"]] == ["dependencies"]
    assert hub.git("diff", "--name-only", "main", "dependencies") == "requirements.txt"
    assert hub.runs == [["ci.yml", "dependencies"]]


def test_the_same_versions_propose_nothing(hub: Hub) -> None:
    locked = lock(hub, "true")
    assert not locked.failed, locked.log
    assert not locked.outputs["changed"]


@pytest.mark.parametrize("has_site", [True, False])
def test_the_documentation_is_published_only_if_the_repository_has_a_site(
    hub: Hub, tmp_path: Path, has_site: bool
) -> None:
    hub.write(settings={**hub.settings, "pages": has_site})
    given = {"github__token": "token", "github__repository": "acp/bindings"}
    found = run_job("docs.yml", "publish", tmp_path, hub.home, **given)
    assert not found.failed, found.log
    assert found.steps.get("steps.site.outputs.exists", "") == ("true" if has_site else "")
    assert ("Not published" in found.summary) is not has_site
