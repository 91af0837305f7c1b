"""A run of a workflow, in a clone of a small repository."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.workflows import Workflow

LOCKED = "jinja2==3.1 \\\n    --hash=sha256:0\n"


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a repository and its origin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        workflow = Workflow(tmp_path_factory.mktemp("repository"), patch)
        workflow.clone.mkdir()
        workflow.git("init", "--quiet", "--bare", "--initial-branch=main", "../origin")
        workflow.git("init", "--quiet", "--initial-branch=main")
        workflow.git("remote", "add", "origin", "../origin")
        files = {"Makefile": "all:\n", "schema/PINNED.json": '{"source": "folder:sdk@1.0.0"}', "generated/old.py": ""}
        workflow.commit({**files, "requirements/dev.txt": LOCKED, "requirements/test.txt": LOCKED}, push=["main"])
        yield workflow.home


@pytest.fixture
def workflow(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workflow:
    shutil.copytree(repository, tmp_path / "workflow")
    return Workflow(tmp_path / "workflow", monkeypatch)
