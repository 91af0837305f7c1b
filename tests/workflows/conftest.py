"""A project with a small schema, in the repository of a fake GitHub."""

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
    """The project with version 1.0.0 of a schema, in which the params of `session/new` have no properties."""
    folder = tmp_path_factory.mktemp("project")
    return start(new_hub(folder), release(folder / "1.0.0", "1.0.0", around("request", model())))


@pytest.fixture
def hub(new_project: Hub, tmp_path: Path) -> Hub:
    """A fresh copy of the project."""
    return new_project.copy(tmp_path / "hub")
