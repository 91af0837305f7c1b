"""Jobs that can write run only main's `.github/steps.py`, because a pull request or upstream can change other code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import steps

from tests.support.workflows import JOBS

# Commands without another one in them.
ALLOWED = re.compile(r"python3 \.github/steps\.py [a-z]+|gh [^;&|`()\n]+")
WRITING = {
    name: job for name, job in JOBS.items() if "github.token" in str(job) or "write" in job["permissions"].values()
}


def options_of(job: dict[str, Any], action: str) -> list[dict[str, Any]]:
    return [step["with"] for step in job["steps"] if f"actions/{action}@" in step.get("uses", "")]


@pytest.mark.parametrize("job", WRITING.values(), ids=WRITING)
def test_a_job_that_can_write_runs_only_gh_or_mains_script(job: dict[str, Any]) -> None:
    ran = [step["run"] for step in job["steps"] if "run" in step]
    assert all(map(ALLOWED.fullmatch, ran))
    for options in options_of(job, "checkout"):
        assert (options["ref"], options["persist-credentials"]) == ("main", False)
        # An artifact can't replace the script.
        assert all("${{ runner.temp }}/" in download["path"] for download in options_of(job, "download-artifact"))


def test_the_outputs_that_workflows_read_are_set_by_a_step() -> None:
    read = set(re.findall(r"steps\.\w+\.outputs\.(\w+)", str(JOBS))) - {"page_url"}  # of an action
    calls = re.findall(r"set_output\((.*)\)", Path(steps.__file__).read_text("utf-8"))
    assert read == {name for call in calls for name in re.findall(r"(\w+)=", call)}


def test_only_the_publishing_jobs_can_request_an_identity_token() -> None:
    requesting = [name for name, job in JOBS.items() if "id-token" in job["permissions"]]
    assert requesting == ["docs.yml: publish", "release.yml: publish"]
    assert JOBS["release.yml: publish"]["needs"] == ["test", "check"]
