"""A commit is proposed if it changes only the files that the calling workflow names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import steps

from tests.support.workflows import Workflow, failure

BRANCH, URL = "schema-upgrade", "https://github.test/pulls/1"
PATHS = "schema generated codegen/methods.toml CHANGELOG.md"
LIST = "pr list --head schema-upgrade --base main --state open --json url,isCrossRepository"
BOT = ("-c", f"user.name={steps.NAME}", "-c", f"user.email={steps.EMAIL}")
Change = Callable[[Path], object]


@pytest.fixture
def workflow(workflow: Workflow) -> Workflow:
    """A run whose repository has no open pull request, and in which opening one gives its URL."""
    workflow.git("switch", "--quiet", "--create", BRANCH)
    workflow.answers = {LIST: "", "pr create": URL}
    return workflow


def propose(workflow: Workflow, verdict: str = "safe") -> int:
    """Propose the clone's branch in the artifact, as the run of a new clone."""
    folder = workflow.home / BRANCH
    folder.mkdir(exist_ok=True)
    (folder / "report.md").write_text("The report", "utf-8")
    workflow.git("bundle", "create", "--quiet", str(folder / "bundle"), f"origin/main..{BRANCH}")
    workflow.git("switch", "--quiet", "--force-create", "main", "origin/main")
    workflow.git("branch", "--quiet", "--delete", "--force", BRANCH)
    workflow.git("fetch", "--quiet", "--prune")
    return workflow.run("propose", BRANCH=BRANCH, PATHS=PATHS, LABEL=f"schema-{verdict}")


def commit(workflow: Workflow, text: str = "{}") -> None:
    """Commit another schema on top of main, as the bot."""
    workflow.git("switch", "--quiet", "--force-create", BRANCH, "origin/main")
    (workflow.clone / "schema/new.json").write_text(text, "utf-8")
    workflow.git("add", "--all")
    workflow.git(*BOT, "commit", "--quiet", "--message", "Upgrade the schema")


def tip(workflow: Workflow) -> str:
    return workflow.git("ls-remote", "origin", BRANCH).partition("\t")[0]


@pytest.mark.parametrize("name", ["schema/new.json", "generated/v1/new é.py", "codegen/methods.toml", "CHANGELOG.md"])
def test_a_commit_of_the_named_files_becomes_a_labelled_pull_request(workflow: Workflow, name: str) -> None:
    workflow.commit({name: "changed"})
    proposed = workflow.git("rev-parse", "HEAD")
    assert propose(workflow, "breaking") == 0, workflow.summary
    assert tip(workflow) == proposed
    report = workflow.home / BRANCH / "report.md"
    assert workflow.writes == [
        f"pr create --base main --head {BRANCH} --title Some change --body-file {report}",
        "label create schema-breaking --force --color b60205",
        f"pr edit {URL} --add-label schema-breaking",
        f"workflow run ci.yml --ref {BRANCH}",
    ]
    assert workflow.summary == f"{URL}: schema-breaking\n"


CHANGES: dict[str, tuple[str, Change]] = {
    "another path": ("Makefile", lambda clone: (clone / "Makefile").write_text("changed", "utf-8")),
    "a path that begins alike": ("schema.py", lambda clone: (clone / "schema.py").touch()),
    "a file that is moved out": (
        "PINNED.json",
        lambda clone: (clone / "schema/PINNED.json").rename(clone / "PINNED.json"),
    ),
    "a file that is moved in": ("Makefile", lambda clone: (clone / "Makefile").rename(clone / "schema/Makefile")),
    "a file that is deleted": ("Makefile", lambda clone: (clone / "Makefile").unlink()),
    "a symlink": ("schema/link", lambda clone: (clone / "schema/link").symlink_to("../Makefile")),
    "an executable": ("generated/tool.py", lambda clone: (clone / "generated/tool.py").touch(0o755)),
}


@pytest.mark.parametrize(("name", "change"), CHANGES.values(), ids=CHANGES)
def test_a_commit_that_changes_anything_else_is_refused(workflow: Workflow, name: str, change: Change) -> None:
    change(workflow.clone)
    workflow.commit({"schema/new.json": "changed"})
    assert propose(workflow) == 1
    assert f"\n```\n{name}\n```\n" in workflow.summary
    assert (tip(workflow), workflow.commands) == ("", [])


def test_a_second_commit_is_refused_although_it_reverts_the_first(workflow: Workflow) -> None:
    workflow.commit({"Makefile": "changed"})
    workflow.git("revert", "--no-edit", "HEAD")
    assert propose(workflow) == 1
    assert workflow.summary == "Refused: the bundle is not one commit on top of main.\n"
    assert workflow.commands == []


def test_an_open_pull_request_gets_the_commit_the_report_and_the_label(workflow: Workflow) -> None:
    commit(workflow)
    assert propose(workflow) == 0
    workflow.commands.clear()
    workflow.answers |= {LIST: URL, "pr view": "urgent\nschema-safe"}
    commit(workflow, "[]")
    assert propose(workflow, "risky") == 0
    assert tip(workflow) == workflow.git("rev-parse", BRANCH)
    report = workflow.home / BRANCH / "report.md"
    assert workflow.writes == [
        f"pr edit {URL} --title Upgrade the schema --body-file {report}",
        "label create schema-risky --force --color fbca04",
        f"pr edit {URL} --remove-label schema-safe",
        f"pr edit {URL} --add-label schema-risky",
        f"workflow run ci.yml --ref {BRANCH}",
    ]


def test_the_same_change_again_writes_nothing_until_main_has_new_commits(workflow: Workflow) -> None:
    commit(workflow)
    assert propose(workflow) == 0
    workflow.commands.clear()
    workflow.answers[LIST] = URL
    commit(workflow)
    assert propose(workflow) == 0
    assert workflow.summary.endswith(f"\n{URL} is already up to date.\n")
    assert workflow.writes == []
    workflow.git("switch", "--quiet", "main")
    workflow.git("commit", "--quiet", "--allow-empty", "--message", "More")
    workflow.git("push", "--quiet", "origin", "main")
    commit(workflow)
    assert propose(workflow) == 0
    assert tip(workflow) == workflow.git("rev-parse", BRANCH)


def test_a_branch_that_a_person_has_pushed_to_is_left_alone(workflow: Workflow) -> None:
    workflow.commit({"notes.md": "mine"}, push=[BRANCH])
    mine = tip(workflow)
    workflow.answers[LIST] = URL
    commit(workflow)
    assert propose(workflow) == 0
    assert workflow.summary == f"A person has pushed to {URL}, so it is left alone. Merge or close it first.\n"
    assert (tip(workflow), workflow.writes) == (mine, [])


def test_if_pull_requests_may_not_be_opened_the_summary_names_the_setting(workflow: Workflow) -> None:
    workflow.answers["pr create"] = failure("GitHub Actions is not permitted to create pull requests")
    commit(workflow)
    assert propose(workflow) == 1
    assert "Allow GitHub Actions to create and approve pull requests." in workflow.summary
    assert tip(workflow) == workflow.git("rev-parse", BRANCH)
