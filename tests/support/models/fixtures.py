"""Fixtures for tests of the generated packages. A test that uses them runs once for each profile in `TESTED`."""

from __future__ import annotations

import pytest

from tests.support.models.profiles import TESTED, Profile
from tests.support.models.shapes import Samples

# The profiles that `make test` tests.
QUICK = ("v1",)


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of a profile in one process, so that its classes and instances are built once.

    Those of the other profiles are for `make test-all`, and stress tests, because `make stress` has more of them.
    """
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            profile = item.callspec.params.get("profile")
            if isinstance(profile, Profile) and item.get_closest_marker("xdist_group") is None:
                item.add_marker(pytest.mark.xdist_group(profile.package))
                if profile.package not in QUICK:
                    item.add_marker(pytest.mark.test_all)
                    item.add_marker(pytest.mark.slow)
                    item.add_marker(pytest.mark.stress)


@pytest.fixture(params=TESTED, ids=lambda profile: profile.package)
def profile(request: pytest.FixtureRequest) -> Profile:
    param: Profile = request.param
    return param


@pytest.fixture
def samples(profile: Profile) -> Samples:
    return Samples(profile, seed=20261120)
