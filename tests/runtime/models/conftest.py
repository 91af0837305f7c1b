"""The fixtures of what runs once for every profile."""

from tests.support.models.fixtures import profile, pytest_collection_modifyitems, samples  # noqa: F401
