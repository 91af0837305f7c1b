"""Fixtures of the tests of the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.third_party import UnavailableError, frameworks, skip_without


@pytest.fixture(scope="session")
def environment() -> Path:
    """The environment with the frameworks that agents are built on."""
    try:
        return frameworks()
    except UnavailableError as reason:
        skip_without("The frameworks can't be installed", reason)
