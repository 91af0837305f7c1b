"""The report of CI on a branch that changes the schema: the workflow's scripts with git and make, on a fake GitHub."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from codegen.__main__ import ROOT, main
from tests.support.codegen.build import STRING, Schema, acp_schema
from tests.support.diff.cases import around, holds, may
from tests.support.workflows.hub import Hub, release
from tests.support.workflows.jobs import Job, run_job

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("releases")]

USER_CODE = """from acp_bindings.v1 import NewSessionRequest

REQUEST = NewSessionRequest()
"""


@dataclass
class Proposal:
    """A branch with another schema and its generated code.

    Attributes:
        hub: the project with the branch.
        clone: a clone with the branch checked out.
    """

    hub: Hub
    clone: Path

    def copy(self, home: Path) -> Proposal:
        """Return a copy in another folder, which a test can change."""
        hub = self.hub.copy(home)
        return Proposal(hub, hub.checkout("topic", compiled=True))

    def report(self) -> Job:
        return run_job("ci.yml", "report", self.clone, self.hub.home, github__base_ref="main")


def propose(hub: Hub, folder: Path, version: str, definitions: Schema) -> Proposal:
    """Push a branch with another schema and its generated code."""
    clone = hub.checkout()
    source = release(folder / version, version, definitions)
    assert main(["fetch", str(source), "--schema", str(clone / "schema")]) == 0
    assert main(["regen", "--schema", str(clone / "schema"), "--output", str(clone / "generated")]) == 0
    hub.push(clone, f"Upgrade to {version}", "topic")
    return Proposal(hub, clone)


@pytest.fixture(scope="module")
def breaking_once(new_project: Hub, tmp_path_factory: pytest.TempPathFactory) -> Proposal:
    folder = tmp_path_factory.mktemp("breaking")
    return propose(new_project.copy(folder / "hub"), folder, "2.0.0", around("request", holds(STRING)))


@pytest.fixture
def breaking(breaking_once: Proposal, tmp_path: Path) -> Proposal:
    return breaking_once.copy(tmp_path / "breaking")


@pytest.fixture(scope="module")
def safe_once(new_project: Hub, tmp_path_factory: pytest.TempPathFactory) -> Proposal:
    folder = tmp_path_factory.mktemp("safe")
    return propose(new_project.copy(folder / "hub"), folder, "1.1.0", around("request", may(STRING)))


@pytest.fixture
def safe(safe_once: Proposal, tmp_path: Path) -> Proposal:
    return safe_once.copy(tmp_path / "safe")


def test_a_branch_with_a_breaking_change_fails_with_the_report(breaking: Proposal) -> None:
    found = breaking.report()
    assert found.failed
    assert found.summary.startswith("**Clients have to act on 1 breaking change.**\n")
    assert "`NewSessionRequest.x`" in found.summary
    annotation = r"::error file=schema/.*title=NewSessionRequest\.x .*::The property is new and required\."
    assert re.search(annotation, found.log)
    assert (breaking.clone / "report.md").read_text("utf-8") == found.summary


def test_a_branch_without_breaking_changes_passes_with_the_report(safe: Proposal) -> None:
    found = safe.report()
    assert not found.failed, found.log
    assert "`NewSessionRequest.x`" in found.summary


def test_an_accepted_finding_does_not_fail(breaking: Proposal, capsys: pytest.CaptureFixture[str]) -> None:
    base, head = str(breaking.hub.checkout("main")), str(breaking.clone)
    capsys.readouterr()
    assert main(["diff", "--base", base, "--head", head, "--format", "json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    accept(breaking, finding["fingerprint"])
    found = breaking.report()
    assert not found.failed, found.log
    assert "no known peer sends it" in found.summary


def test_a_stale_acceptance_fails_with_the_report(safe: Proposal) -> None:
    accept(safe, "0123456789ab")
    found = safe.report()
    assert found.failed
    assert "accepted.toml accepts 0123456789ab, but no finding has this fingerprint" in found.log
    assert "`NewSessionRequest.x`" in found.summary


def test_the_bases_user_code_is_checked_and_its_failures_are_reported(hub: Hub, tmp_path: Path) -> None:
    other = hub.checkout()
    shutil.copytree(ROOT / "runtime", other / "runtime", ignore=shutil.ignore_patterns("__pycache__"))
    (other / "tests/typing/user_code").mkdir(parents=True)
    (other / "tests/typing/user_code/client.py").write_text(USER_CODE, "utf-8")
    hub.push(other, "Use it", "main")
    proposal = propose(hub, tmp_path, "2.0.0", around("request", holds(STRING)))
    clone = proposal.clone
    (clone / "tests/typing/user_code/client.py").write_text(USER_CODE.replace("()", '(x="")'), "utf-8")
    hub.push(clone, "Adapt to it", "topic")
    found = proposal.report()
    assert found.failed
    assert "User code: 1 failure in 1 file." in found.summary
    assert 'client.py:3: Missing named argument "x"' in found.summary


def accept(proposal: Proposal, fingerprint: str) -> None:
    accepted = f'[[accepted]]\nfingerprint = "{fingerprint}"\nreason = "no known peer sends it"\n'
    (proposal.clone / "schema/accepted.toml").write_text(accepted, "utf-8")
    proposal.hub.push(proposal.clone, "Accept it", "topic")


def test_a_branch_that_changes_neither_schema_nor_generated_code_has_no_report(hub: Hub) -> None:
    clone = hub.checkout()
    (clone / "notes.md").write_text("more", "utf-8")
    hub.push(clone, "More", "topic")
    found = Proposal(hub, clone).report()
    assert (found.failed, found.summary, found.outputs) == (False, "", {"base": ""})


def test_later_changes_on_main_are_not_reported_for_the_branch(safe: Proposal) -> None:
    hub = safe.hub
    other = hub.checkout()
    (other / "schema/v1/schema.json").write_text(json.dumps(acp_schema(around("result", holds(STRING)))), "utf-8")
    hub.push(other, "Break something on main", "main")
    hub.git("fetch", "--quiet", cwd=safe.clone)
    found = safe.report()
    assert not found.failed, found.log
    assert "NewSessionResponse" not in found.summary


def test_a_new_report_replaces_only_the_previous_report(hub: Hub, tmp_path: Path) -> None:
    begin = "<!-- report of CI -->\n"
    others = [("somebody", f"{begin}theirs"), ("github-actions[bot]", "of another workflow")]
    comments = [
        {"id": number, "pull": "7", "user": {"login": login}, "body": body}
        for number, (login, body) in enumerate(others)
    ]
    hub.write(comments=comments)
    given = {"github__token": "token", "github__repository": "acp/bindings", "github__event__pull_request__number": "7"}
    for text in ("first", "second"):
        (tmp_path / "report.md").write_text(text, "utf-8")
        commented = run_job("ci.yml", "comment", tmp_path, hub.home, **given)
        assert not commented.failed, commented.log
        *kept, report = hub.comments
        assert kept == comments
        assert report["body"] == begin + text
