"""Only jobs that run none of the project's code may write, because a pull request or upstream can change the code."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.support.workflows.jobs import WORKFLOWS

# Jobs that call a workflow run its jobs, which are in this table too.
TEXTS: dict[str, Any] = {
    path.name: YAML(typ="safe").load(path.read_text("utf-8")) for path in sorted(WORKFLOWS.glob("*.yml"))
}
JOBS = {
    f"{file}: {name}": job for file, text in TEXTS.items() for name, job in text["jobs"].items() if "uses" not in job
}


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_a_job_that_runs_code_can_neither_write_nor_use_the_token(job: dict[str, Any]) -> None:
    runs_code = any(re.search(r"\bmake\b|\bpython|\.ci/", step.get("run", "")) for step in job["steps"])
    may_write = "write" in job.get("permissions", {}).values()
    uses_token = "github.token" in str(job)
    assert not (runs_code and (may_write or uses_token))


def test_only_the_publishing_jobs_can_request_an_identity_token() -> None:
    requesting = [name for name, job in JOBS.items() if "id-token" in job.get("permissions", {})]
    assert requesting == ["docs.yml: publish", "release.yml: publish"]
    assert JOBS["release.yml: publish"]["needs"] == ["test", "check"]
