"""A project with a small schema, its repository on a GitHub that is a folder, and the `gh` that goes with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.codegen.build import model
from tests.support.diff.cases import around
from tests.support.workflows.hub import (
    Hub,
    new_hub,
    release,
    start,
)


@pytest.fixture(scope="session")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Hub:
    """The project with a schema in version 1.0.0, of which the request of `session/new` has no properties."""
    folder = tmp_path_factory.mktemp("project")
    return start(new_hub(folder), release(folder / "1.0.0", "1.0.0", around("request", model())))


@pytest.fixture
def hub(new_project: Hub, tmp_path: Path) -> Hub:
    """A copy of the new project."""
    return new_project.copy(tmp_path / "hub")
