"""Fixtures for tests that run once for each profile."""

from tests.support.models.fixtures import profile, pytest_collection_modifyitems, samples  # noqa: F401
