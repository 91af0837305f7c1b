"""Who may write: only jobs that run none of the project's code, which a pull request or upstream may have a hand in."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.support.workflows.jobs import WORKFLOWS

TEXTS: dict[str, Any] = {
    path.name: YAML(typ="safe").load(path.read_text("utf-8")) for path in sorted(WORKFLOWS.glob("*.yml"))
}
JOBS = {f"{file}: {name}": job for file, text in TEXTS.items() for name, job in text["jobs"].items()}


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_a_job_that_may_write_runs_none_of_the_code(job: dict[str, Any]) -> None:
    runs_code = any(re.search(r"\bmake\b|\bpython|\.ci/", step.get("run", "")) for step in job["steps"])
    may_write = "write" in job.get("permissions", {}).values()
    uses_token = "github.token" in str(job)
    assert not (runs_code and (may_write or uses_token))


def test_only_what_publishes_can_ask_for_an_identity() -> None:
    asking = [name for name, job in JOBS.items() if "id-token" in job.get("permissions", {})]
    assert asking == ["release.yml: publish"]
    assert JOBS["release.yml: publish"]["needs"] == ["test", "check"]
