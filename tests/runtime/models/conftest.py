"""Fixtures for tests that run for version 1, and for all of the draft of version 2."""

from __future__ import annotations

import pytest

from tests.support.models.fixtures import pytest_collection_modifyitems, samples  # noqa: F401
from tests.support.models.profiles import PROFILES, Profile


@pytest.fixture(params=[PROFILES[0], PROFILES[-1]], ids=lambda profile: profile.package)
def profile(request: pytest.FixtureRequest) -> Profile:
    chosen: Profile = request.param
    return chosen
