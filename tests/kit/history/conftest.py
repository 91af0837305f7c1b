"""Where the tests of histories keep them."""

from __future__ import annotations

import pytest

from tests.support.kit.histories import DATABASES, KINDS, location


@pytest.fixture(params=KINDS)
def where(request: pytest.FixtureRequest) -> str:
    """A new place for a history of each kind."""
    return location(request, request.param)


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    """The path or the URL of a new database of each kind."""
    return location(request, request.param)
