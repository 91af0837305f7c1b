"""Upgrading through released schemas, one after the other, ends with the files that are committed."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from codegen.__main__ import GENERATED, ROOT, SCHEMA, main
from codegen.files import read_files
from codegen.upgrade.command import USER_CODE
from tests.support.diff.repository import commit
from tests.support.releases import PACKAGE, RELEASES, SAME, unpacked
from tests.support.scale import STRESS

pytestmark = [pytest.mark.test_all, pytest.mark.stress, pytest.mark.slow]

FIRST = "2.0.0"
PINS = json.loads((SCHEMA / "PINNED.json").read_text("utf-8"))
# `make test` skips the releases in between, and the check of user code.
ALL = [release for release in RELEASES[RELEASES.index(FIRST) :] if release != PINS["version"]]
BEFORE = ALL if STRESS else ALL[:1]
ORDER = list(dict.fromkeys([*RELEASES, PINS["version"]]))
FACTS = ("methods.toml", "renames.toml")

# Packs a release that was downloaded before.
NPM = """#!{python}
import sys, tarfile
folder = {folders}[sys.argv[-1]]
with tarfile.open("package.tgz", "w:gz") as tar:
    tar.add(folder, "package")
"""


def source(version: str) -> str:
    return f"npm:{PACKAGE}@{version}"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that has the first release pinned, and in which `upgrade` works. npm knows the releases."""
    folders = {f"{PACKAGE}@{version}": str(unpacked(version)) for version in (*BEFORE, PINS["version"])}
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/npm").write_text(NPM.format(python=sys.executable, folders=folders), "utf-8")
    (tmp_path / "bin/npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    folder = tmp_path / "repository"
    shutil.copytree(SCHEMA, folder / "schema")
    for name in ("CHANGELOG.md", "pyproject.toml", *(f"codegen/{fact}" for fact in FACTS)):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    assert main(["fetch", source(FIRST), "--schema", str(folder / "schema")]) == 0
    if STRESS:
        for name in ("runtime", USER_CODE):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        assert main(["regen", "--schema", str(folder / "schema"), "--output", str(folder / "generated")]) == 0
    commit(folder)
    monkeypatch.setattr("codegen.upgrade.command.REPOSITORY", folder)
    return folder


@pytest.mark.skipif(not PINS["source"].startswith("npm:"), reason="The pinned schemas are not from npm.")
def test_a_replay_of_the_upgrades_ends_with_the_committed_files(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    changes = 0
    for old, new in itertools.pairwise([*BEFORE, PINS["version"]]):
        assert main(["upgrade", source(new)]) == 0
        out = capsys.readouterr().out
        if SAME.issuperset(ORDER[ORDER.index(old) + 1 : ORDER.index(new) + 1]):
            assert out.startswith(f"The schemas of {source(new)} are those of {source(old)}.")
        else:
            assert out.startswith(f"{source(old)} -> {source(new)}\n")
            changes += 1
        commit(repository)
    for folder in (SCHEMA, GENERATED):
        assert read_files(repository / folder.name) == read_files(folder)
    changelog, committed = ((folder / "CHANGELOG.md").read_text("utf-8") for folder in (repository, ROOT))
    assert changelog.count("- The schema is that of") == changes > 0
    assert changelog.startswith(committed[: committed.index("### ")])
