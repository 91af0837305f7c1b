"""The report of CI on a branch that changes the schema: the workflow's scripts with git and make, on a fake GitHub."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.__main__ import ROOT, main
from tests.support.codegen.build import STRING, Schema, acp_schema
from tests.support.diff.cases import around, holds, may
from tests.support.workflows.hub import Hub, release
from tests.support.workflows.jobs import Job, run_job

pytestmark = pytest.mark.slow

USER_CODE = """from acp_bindings.v1 import NewSessionRequest

REQUEST = NewSessionRequest()
"""


def propose(hub: Hub, tmp_path: Path, version: str, definitions: Schema) -> Path:
    """Push a branch with another schema and its generated code, and return a clone with the branch checked out."""
    clone = hub.checkout()
    source = release(tmp_path / version, version, definitions)
    assert main(["fetch", str(source), "--schema", str(clone / "schema")]) == 0
    assert main(["regen", "--schema", str(clone / "schema"), "--output", str(clone / "generated")]) == 0
    hub.push(clone, f"Upgrade to {version}", "topic")
    return clone


def report(hub: Hub, clone: Path) -> Job:
    return run_job("ci.yml", "report", clone, hub.home, github__base_ref="main")


def test_a_branch_with_a_breaking_change_fails_with_the_report(hub: Hub, tmp_path: Path) -> None:
    clone = propose(hub, tmp_path, "2.0.0", around("request", holds(STRING)))
    found = report(hub, clone)
    assert found.failed
    assert found.summary.startswith("Schema: ")
    assert "`NewSessionRequest.x`" in found.summary
    assert "::error file=schema/v1/schema.json" in found.log
    assert (clone / "report.md").read_text("utf-8") == found.summary


def test_a_branch_without_breaking_changes_passes_with_the_report(hub: Hub, tmp_path: Path) -> None:
    found = report(hub, propose(hub, tmp_path, "1.1.0", around("request", may(STRING))))
    assert not found.failed, found.log
    assert "`NewSessionRequest.x`" in found.summary


def test_an_accepted_finding_does_not_fail(hub: Hub, tmp_path: Path) -> None:
    clone = propose(hub, tmp_path, "2.0.0", around("request", holds(STRING)))
    command = [sys.executable, "-m", "codegen", "diff", "--base", "origin/main", "--format", "json"]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True, timeout=60)
    (finding,) = json.loads(done.stdout)["findings"]
    accept(hub, clone, finding["fingerprint"])
    found = report(hub, clone)
    assert not found.failed, found.log
    assert "no known peer sends it" in found.summary


def test_a_stale_acceptance_fails_with_the_report(hub: Hub, tmp_path: Path) -> None:
    clone = propose(hub, tmp_path, "1.1.0", around("request", may(STRING)))
    accept(hub, clone, "0123456789ab")
    found = report(hub, clone)
    assert found.failed
    assert "accepted.toml accepts 0123456789ab, but no finding has this fingerprint" in found.log
    assert "`NewSessionRequest.x`" in found.summary


@pytest.mark.xdist_group("releases")
def test_the_bases_user_code_is_checked_and_its_failures_are_reported_and_annotated(hub: Hub, tmp_path: Path) -> None:
    other = hub.checkout()
    shutil.copytree(ROOT / "runtime", other / "runtime", ignore=shutil.ignore_patterns("__pycache__"))
    (other / "tests/typing/user_code").mkdir(parents=True)
    (other / "tests/typing/user_code/client.py").write_text(USER_CODE, "utf-8")
    hub.push(other, "Use it", "main")
    clone = propose(hub, tmp_path, "2.0.0", around("request", holds(STRING)))
    (clone / "tests/typing/user_code/client.py").write_text(USER_CODE.replace("()", '(x="")'), "utf-8")
    hub.push(clone, "Adapt to it", "topic")
    found = report(hub, clone)
    assert found.failed
    assert "User code: 1 failure in 1 file." in found.summary
    assert 'client.py:3: Missing named argument "x"' in found.summary
    assert "::warning file=tests/typing/user_code/client.py,line=3," in found.log


def accept(hub: Hub, clone: Path, fingerprint: str) -> None:
    accepted = f'[[accepted]]\nfingerprint = "{fingerprint}"\nreason = "no known peer sends it"\n'
    (clone / "schema/accepted.toml").write_text(accepted, "utf-8")
    hub.push(clone, "Accept it", "topic")


def test_a_branch_that_changes_neither_schema_nor_generated_code_has_no_report(hub: Hub) -> None:
    clone = hub.checkout()
    (clone / "notes.md").write_text("more", "utf-8")
    hub.push(clone, "More", "topic")
    found = report(hub, clone)
    assert (found.failed, found.summary, found.outputs) == (False, "", {"base": ""})


def test_later_changes_on_main_are_not_reported_for_the_branch(hub: Hub, tmp_path: Path) -> None:
    clone = propose(hub, tmp_path, "1.1.0", around("request", may(STRING)))
    other = hub.checkout()
    (other / "schema/v1/schema.json").write_text(json.dumps(acp_schema(around("result", holds(STRING)))), "utf-8")
    hub.push(other, "Break something on main", "main")
    hub.git("fetch", "--quiet", cwd=clone)
    found = report(hub, clone)
    assert not found.failed, found.log
    assert "NewSessionResponse" not in found.summary


def test_a_new_report_replaces_the_previous_comment(hub: Hub, tmp_path: Path) -> None:
    hub.write(pulls=[{"number": 7, "url": "https://github.test/pulls/7", "comments": []}])
    given = {"github__token": "token", "github__repository": "acp/bindings", "github__event__pull_request__number": "7"}
    for text in ("first", "second"):
        (tmp_path / "report.md").write_text(text, "utf-8")
        commented = run_job("ci.yml", "comment", tmp_path, hub.home, **given)
        assert not commented.failed, commented.log
        assert hub.pulls[0]["comments"] == [text]
