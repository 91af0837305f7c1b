"""Where the tests of histories keep them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.postgresql import PostgreSQL

DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.test_all)]


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The path or the URL of a new database of each kind."""
    return create_database(request, tmp_path)


@pytest.fixture(params=["memory", *DATABASES])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The path or the URL of a new database of each kind; empty for a history in memory."""
    return "" if request.param == "memory" else create_database(request, tmp_path)


def create_database(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param == "sqlite":
        return str(folder / "history.db")
    server: PostgreSQL = request.getfixturevalue("postgresql")
    return server.create_database()
