"""What the tests of the generated packages share: each runs once for every profile."""

from __future__ import annotations

import pytest

from tests.generated.profiles import PROFILES, Profile
from tests.generated.shapes import Samples


@pytest.fixture(params=PROFILES, ids=lambda profile: profile.package)
def profile(request: pytest.FixtureRequest) -> Profile:
    found: Profile = request.param
    return found


@pytest.fixture
def samples(profile: Profile) -> Samples:
    return Samples(profile, seed=20261120)
