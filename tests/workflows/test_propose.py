"""A commit that is proposed may change only the files that the calling workflow names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.workflows.hub import Hub

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("upgrade")]

BRANCH = "schema-upgrade"
Change = Callable[[Path], object]


def bundle(hub: Hub, clone: Path, base: str = "main") -> None:
    """Write the artifact of a job that has committed something in a clone."""
    folder = hub.home / "temp" / BRANCH
    folder.mkdir(parents=True)
    (folder / "report.md").write_text("The report", "utf-8")
    hub.git("bundle", "create", "--quiet", str(folder / "bundle"), f"{base}..{BRANCH}", cwd=clone)


def commit(hub: Hub, clone: Path) -> None:
    hub.git("add", "--all", cwd=clone)
    hub.git("commit", "--quiet", "--message", "Upgrade", cwd=clone)


def started(hub: Hub) -> Path:
    clone = hub.checkout()
    hub.git("switch", "--quiet", "--create", BRANCH, cwd=clone)
    return clone


def write(name: str) -> Change:
    def change(clone: Path) -> None:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text("changed", "utf-8")

    return change


@pytest.mark.parametrize("name", ["schema/new.json", "generated/new.py", "codegen/methods.toml", "CHANGELOG.md"])
def test_a_commit_of_an_upgrade_is_proposed(hub: Hub, name: str) -> None:
    clone = started(hub)
    write(name)(clone)
    commit(hub, clone)
    bundle(hub, clone)
    proposed = hub.propose("safe")
    assert not proposed.failed, proposed.log
    assert [each["head"] for each in hub.pulls] == [BRANCH]


CHANGES: dict[str, tuple[str, Change]] = {
    "another path": ("Makefile", write("Makefile")),
    "a workflow": (".github/workflows/ci.yml", write(".github/workflows/ci.yml")),
    "a path that begins alike": ("schema.py", write("schema.py")),
    "a file that is moved out": (
        "PINNED.json",
        lambda clone: (clone / "schema/PINNED.json").rename(clone / "PINNED.json"),
    ),
    "a file that is deleted": ("Makefile", lambda clone: (clone / "Makefile").unlink()),
    "a symlink": ("schema/link", lambda clone: (clone / "schema/link").symlink_to("../Makefile")),
    "an executable": ("generated/tool.py", lambda clone: (clone / "generated/tool.py").touch(0o755)),
}


@pytest.mark.parametrize(("name", "change"), CHANGES.values(), ids=CHANGES)
def test_a_commit_that_changes_anything_else_is_refused(hub: Hub, name: str, change: Change) -> None:
    clone = started(hub)
    write("schema/new.json")(clone)
    change(clone)
    commit(hub, clone)
    bundle(hub, clone)
    refused = hub.propose("safe")
    assert refused.failed
    assert name in refused.summary
    assert hub.writes == []
    assert hub.git("branch", "--list") == "* main"


def test_a_second_commit_is_refused_although_it_reverts_the_first(hub: Hub) -> None:
    clone = started(hub)
    write("Makefile")(clone)
    commit(hub, clone)
    hub.git("revert", "--no-edit", "HEAD", cwd=clone)
    bundle(hub, clone)
    refused = hub.propose("safe")
    assert refused.failed
    assert "Refused: the bundle is not one commit on top of main." in refused.summary
    assert hub.writes == []


def test_a_merge_is_refused(hub: Hub) -> None:
    clone = started(hub)
    write("Makefile")(clone)
    commit(hub, clone)
    hub.git("push", "--quiet", "origin", "HEAD:main", cwd=clone)
    merge = hub.git("commit-tree", "HEAD^^{tree}", "-p", "HEAD^", "-p", "HEAD", "-m", "Undo it", cwd=clone)
    hub.git("reset", "--quiet", "--hard", merge, cwd=clone)
    bundle(hub, clone)
    refused = hub.propose("safe")
    assert refused.failed
    assert "Refused: the bundle is not one commit on top of main." in refused.summary
