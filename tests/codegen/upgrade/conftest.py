"""A small repository in which upgrades are run. The tests share it, because its process takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.codegen.upgrade.upgrading import Repository, new_repository


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Repository, str]]:
    """The repository, and its first commit."""
    with new_repository(tmp_path_factory.mktemp("upgrade")) as repository:
        yield repository, repository.git("rev-parse", "HEAD")


@pytest.fixture
def repository(made: tuple[Repository, str]) -> Repository:
    repository, first = made
    repository.reset(first)
    return repository
