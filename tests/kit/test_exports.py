"""The packages of the kit load each of their names on first use."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest

PACKAGES = ["agent", "client", "history", "registry", "remote", "sync"]


@pytest.fixture(params=PACKAGES)
def package(request: pytest.FixtureRequest) -> ModuleType:
    return import_module(f"acp_kit.{request.param}")


def test_every_name_can_be_loaded_and_dir_lists_it(package: ModuleType) -> None:
    assert dir(package) == sorted(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_another_name_is_an_attribute_error(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"^module 'acp_kit[.]{package.__name__[8:]}' has no attribute 'Nothing'$"):
        package.Nothing  # noqa: B018
