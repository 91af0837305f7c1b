"""The workflow that proposes a new schema: its scripts with git and make, on a fake GitHub."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from codegen.__main__ import ROOT
from codegen.upgrade.versions import next_version
from tests.support.codegen.build import STRING, model
from tests.support.diff.cases import around, holds, may
from tests.support.releases import schemas_of
from tests.support.scale import STRESS
from tests.support.workflows.hub import Hub, release
from tests.support.workflows.jobs import Job

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("upgrade")]

BRANCH = "schema-upgrade"


@pytest.fixture(scope="session")
def safe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release(tmp_path_factory.mktemp("safe") / "1.1.0", "1.1.0", around("request", may(STRING)))


@pytest.fixture(scope="session")
def proposed_once(new_project: Hub, safe: Path, tmp_path_factory: pytest.TempPathFactory) -> Hub:
    hub = new_project.copy(tmp_path_factory.mktemp("proposed") / "hub")
    hub.upgrade(safe)
    return hub


@pytest.fixture
def proposed(proposed_once: Hub, tmp_path: Path) -> Hub:
    """A copy of the project with an open pull request for a safe schema."""
    return proposed_once.copy(tmp_path / "hub")


@pytest.fixture(scope="session")
def breaking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release(tmp_path_factory.mktemp("breaking") / "2.0.0", "2.0.0", around("request", holds(STRING)))


def labels(hub: Hub) -> list[str]:
    (pull,) = hub.pulls
    return [each["name"] for each in pull["labels"]]


def test_a_new_schema_becomes_a_labelled_pull_request_with_the_report(hub: Hub, breaking: Path) -> None:
    generated, proposed = hub.upgrade(breaking)
    assert proposed is not None
    assert not proposed.failed, proposed.log
    (pull,) = hub.pulls
    assert pull["title"] == "Upgrade the schema to folder:@agentclientprotocol/sdk@2.0.0"
    assert pull["body"].startswith("**Clients have to act on 1 breaking change.**")
    assert "`NewSessionRequest.x`" in pull["body"]
    assert (pull["head"], pull["base"]) == (BRANCH, "main")
    assert labels(hub) == ["schema-breaking"]
    assert pull["body"] in generated.summary
    assert hub.runs == [["ci.yml", BRANCH]]


def test_the_branch_is_one_commit_of_the_schema_and_the_generated_code(hub: Hub, breaking: Path) -> None:
    hub.upgrade(breaking)
    (pull,) = hub.pulls
    assert hub.git("rev-list", "--count", f"main..{BRANCH}") == "1"
    message = hub.git("show", "--no-patch", "--format=%B", BRANCH)
    body = "\n".join(line.rstrip() for line in pull["body"].splitlines())  # git removes trailing spaces
    assert message == f"{pull['title']}\n\n{body}"
    assert json.loads(hub.git("show", f"{BRANCH}:schema/PINNED.json"))["version"] == "2.0.0"
    changed = hub.git("diff", "--name-only", "main", BRANCH).splitlines()
    assert {name.split("/")[0] for name in changed} == {"CHANGELOG.md", "generated", "schema"}
    assert "x: str" in hub.git("show", f"{BRANCH}:generated/acp_bindings/v1/models/sessions.py")


def test_a_newer_schema_updates_the_open_pull_request(proposed: Hub, breaking: Path) -> None:
    hub = proposed
    assert labels(hub) == ["schema-safe"]
    pulls = hub.pulls
    pulls[0]["labels"].append({"name": "urgent"})
    hub.write(pulls=pulls)
    hub.upgrade(breaking)
    assert sorted(labels(hub)) == ["schema-breaking", "urgent"]
    (pull,) = hub.pulls
    assert pull["title"].endswith("@2.0.0")
    assert "schema/ (2.0.0)" in pull["body"]
    assert hub.git("rev-list", "--count", f"main..{BRANCH}") == "1"
    assert hub.runs == [["ci.yml", BRANCH]] * 2


def test_a_release_with_the_pinned_schema_opens_no_pull_request(hub: Hub, tmp_path: Path) -> None:
    same = release(tmp_path / "1.0.1", "1.0.1", around("request", model()))
    generated, proposed = hub.upgrade(same)
    assert not generated.failed, generated.log
    assert proposed is None
    assert "sdk@1.0.1 are those of folder:@agentclientprotocol/sdk@1.0.0." in generated.summary
    assert hub.git("branch", "--list") == "* main"
    assert hub.writes == []


def test_the_pinned_release_opens_no_pull_request(hub: Hub, new_project: Hub) -> None:
    generated, proposed = hub.upgrade(new_project.home.parent / "1.0.0")
    assert not generated.failed, generated.log
    assert proposed is None
    assert "sdk@1.0.0 are the pinned ones. There is nothing to do." in generated.summary
    assert hub.writes == []


def test_after_a_release_the_pull_request_raises_the_version(hub: Hub, breaking: Path) -> None:
    clone = hub.checkout()
    changelog = clone / "CHANGELOG.md"
    changelog.write_text(changelog.read_text("utf-8").replace(" (unreleased)", ""), "utf-8")
    hub.push(clone, "Release it", "main")
    version = tomllib.loads((clone / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    hub.git("tag", f"v{version}", "main")
    hub.upgrade(breaking)
    proposed = tomllib.loads(hub.git("show", f"{BRANCH}:pyproject.toml"))["project"]["version"]
    assert proposed == next_version(version, [version], "major")
    assert f"## {proposed} (unreleased)" in hub.git("show", f"{BRANCH}:CHANGELOG.md")


def test_the_same_schema_again_changes_nothing(proposed: Hub, safe: Path) -> None:
    hub = proposed
    tip, writes = hub.git("rev-parse", BRANCH), hub.writes
    _, again = hub.upgrade(safe, fresh=True)
    assert again is not None
    assert "is already up to date" in again.summary
    assert (hub.git("rev-parse", BRANCH), hub.writes) == (tip, writes)


def test_if_main_has_new_commits_the_branch_is_based_on_them(proposed: Hub, safe: Path) -> None:
    hub = proposed
    clone = hub.checkout()
    (clone / "notes.md").write_text("more", "utf-8")
    hub.push(clone, "More", "main")
    hub.upgrade(safe)
    assert hub.git("rev-parse", f"{BRANCH}^") == hub.git("rev-parse", "main")
    assert len(hub.pulls) == 1


def test_a_branch_that_a_person_has_pushed_to_is_left_alone(proposed: Hub, breaking: Path) -> None:
    hub = proposed
    clone = hub.checkout(BRANCH)
    (clone / "notes.md").write_text("mine", "utf-8")
    hub.push(clone, "Mine", BRANCH)
    tip, writes = hub.git("rev-parse", BRANCH), hub.writes
    _, refused = hub.upgrade(breaking)
    assert refused is not None
    assert "A person has pushed to https://github.test/pulls/1" in refused.summary
    assert (hub.git("rev-parse", BRANCH), hub.writes) == (tip, writes)


def test_after_a_pull_request_is_closed_the_next_schema_opens_another(proposed: Hub, breaking: Path) -> None:
    hub = proposed
    hub.write(pulls=[{**hub.pulls[0], "state": "closed"}])
    hub.upgrade(breaking)
    assert [each["state"] for each in hub.pulls] == ["closed", "open"]


def test_a_branch_of_the_same_name_in_a_fork_is_ignored(hub: Hub, safe: Path) -> None:
    theirs = {"number": 1, "url": "https://github.test/pulls/1", "state": "open", "head": BRANCH, "base": "main"}
    hub.write(pulls=[{**theirs, "labels": [], "isCrossRepository": True, "body": "theirs"}])
    hub.upgrade(safe)
    assert [each["isCrossRepository"] for each in hub.pulls] == [True, False]
    assert hub.pulls[0]["body"] == "theirs"


def test_acceptances_of_the_previous_upgrade_are_removed(hub: Hub, safe: Path) -> None:
    clone = hub.checkout()
    accepted = '[[accepted]]\nfingerprint = "0123456789ab"\nreason = "of another upgrade"\n'
    (clone / "schema/accepted.toml").write_text(accepted, "utf-8")
    hub.push(clone, "Accept", "main")
    generated, _ = hub.upgrade(safe)
    assert not generated.failed, generated.log
    assert "schema/accepted.toml" in hub.git("diff", "--name-only", "main", BRANCH).splitlines()


def test_a_missing_source_fails_with_the_error_and_writes_nothing(hub: Hub, tmp_path: Path) -> None:
    generated, _ = hub.upgrade(tmp_path / "gone")
    assert generated.failed
    assert generated.summary.startswith("No upgrade:\n\n    codegen: ")
    assert "gone is not a source" in generated.summary
    assert generated.outputs["without_rule"] == ""
    assert hub.writes == []


def test_the_input_is_not_evaluated_by_make_or_the_shell(hub: Hub, tmp_path: Path) -> None:
    source = f"""$(shell touch {tmp_path}/make)`touch {tmp_path}/shell`"; touch {tmp_path}/quotes; \""""
    assert hub.upgrade(source)[0].failed
    assert {path.name for path in tmp_path.iterdir()} == {"hub"}


def ask(hub: Hub, generated: Job) -> Job:
    given = {
        "needs.generate.result == 'failure'": str(generated.failed).lower(),
        "needs.generate.outputs.error": generated.outputs["error"],
    }
    asked = hub.job("schema-upgrade.yml", "ask", **given)
    assert not asked.failed, asked.log
    return asked


def test_one_issue_reports_a_schema_without_a_rule_until_an_upgrade_works(
    hub: Hub, new_project: Hub, tmp_path: Path
) -> None:
    unknown = release(tmp_path / "3.0.0", "3.0.0", around("request", {**model(), "x-new-keyword": True}))
    for _ in range(2):
        generated, _ = hub.upgrade(unknown)
        assert generated.failed
        assert "x-new-keyword" in generated.summary
        assert generated.outputs["without_rule"] == "true"
        ask(hub, generated)
    (issue,) = hub.issues
    assert f"    {generated.outputs['error']}\n" in issue["body"]
    assert hub.writes == ["label create", "issue create", "issue edit"]
    assert hub.git("branch", "--list") == "* main"
    for _ in range(2):
        ask(hub, hub.upgrade(new_project.home.parent / "1.0.0")[0])
    (issue,) = hub.issues
    assert (issue["state"], issue["comment"]) == (
        "closed",
        "It works again: https://github.test/acp/bindings/actions/runs/7",
    )
    assert hub.writes[3:] == ["issue close"]


def test_a_report_that_cannot_be_made_fails_with_the_error(hub: Hub, safe: Path) -> None:
    clone = hub.checkout()
    (clone / "schema/v1/schema.json").write_text("{", "utf-8")
    hub.push(clone, "Break the schema that is pinned", "main")
    generated, _ = hub.upgrade(safe)
    assert generated.failed
    assert generated.summary.startswith("No upgrade:\n\n    codegen: HEAD can't be read: ")
    assert hub.writes == []


if STRESS:  # `make test` upgrades to real releases in tests/codegen/upgrade/

    @pytest.mark.stress
    @pytest.mark.xdist_group("real upgrade")
    def test_a_real_release_is_proposed_with_the_check_of_user_code(hub: Hub) -> None:
        hub.upgrade(schemas_of("2.0.2"))
        hub.git("branch", "--force", "main", BRANCH)
        hub.write(pulls=[])
        clone = hub.checkout()
        for name in ("runtime", "tests/typing/user_code"):
            shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
        hub.push(clone, "Use it", "main")
        generated, proposed = hub.upgrade(schemas_of("2.1.0"))
        assert proposed is not None
        assert not proposed.failed, generated.log + proposed.log
        assert (
            f"User code: no failures in {len(list((ROOT / 'tests/typing/user_code').glob('*.py')))} files."
            in generated.summary
        )
        assert labels(hub) == ["schema-safe"]
