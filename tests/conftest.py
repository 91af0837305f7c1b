"""Which tests `make test` runs, how they are spread over processes, and which fixtures all tests of a process share."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.signals import stop_ignoring_sigint
from tests.support.skipping import skip_without
from tools.paths import ROOT
from tools.third_party import UnavailableError, wheels

# `make test` refuses these programs.
_REFUSED = ("chromium", "haproxy", "initdb", "nginx", "node", "npm", "npx", "uvx")
# Folders whose tests are all for `make test-all`.
_TEST_ALL = ("tests/codegen/reference/", "tests/interop/", "tests/stress/")

pytest_plugins = ["tests.support.async_tests", "tests.support.postgresql"]


def pytest_configure(config: pytest.Config) -> None:
    stop_ignoring_sigint()
    if "not test_all" in config.option.markexpr and not hasattr(config, "workerinput"):
        _refuse_peers(config.cache.mkdir("refused"))
    # Collect garbage less often, because each time examines everything that pytest and the packages have created.
    gc.set_threshold(10_000)


def _refuse_peers(folder: Path) -> None:
    """Make tests fail that need another SDK, npm, a server or a package registry.

    Args:
        folder: the programs that are found instead of the real ones.
    """
    for name in _REFUSED:
        (folder / name).write_text(
            f"#!/bin/sh\necho '{name} is not for make test: mark the test test_all.' >&2\nexit 1\n"
        )
        (folder / name).chmod(0o755)
    os.environ["PATH"] = os.pathsep.join([str(folder), os.environ["PATH"]])
    os.environ.update(ACP_PEERS="refused", PIP_NO_INDEX="1", UV_OFFLINE="1")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two processes for each core, because tests often wait for processes that they started."""
    return (os.cpu_count() or 1) * 2


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Don't import the modules of folders from which no test is selected."""
    is_left_out = "not test_all" in config.option.markexpr and f"{collection_path.as_posix()}/".endswith(_TEST_ALL)
    return is_left_out or None


@pytest.hookimpl(tryfirst=True)  # pytest selects by markers, and pytest-xdist reads the groups, in the same hook
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark whole folders `test_all`. Run slow tests first, so that no process begins one when the others are done.

    Fast tests of a file run in one process, because they share fixtures and what they have imported and cached. Those
    that are many in `make stress` don't.
    """
    for item in items:
        if item.nodeid.startswith(_TEST_ALL):
            item.add_marker("test_all")
    if not hasattr(config, "workerinput"):
        return
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        if not any(item.get_closest_marker(name) for name in ("slow", "stress", "xdist_group")):
            item.add_marker(pytest.mark.xdist_group(item.location[0]))


def pytest_collection_finish() -> None:
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _environment_of_programs() -> Iterator[None]:
    """Set the environment variables that programs of tests read."""
    with pytest.MonkeyPatch.context() as patch:
        # Most of what mypy checks is the standard library and pydantic, which don't change. The tests in which codegen
        # runs it are in the group "releases", so that one process uses the cache.
        patch.setenv("MYPY_CACHE_DIR", str(ROOT / ".mypy_cache" / "tests"))
        # Print plain text, also where CI=true or FORCE_COLOR asks for colours.
        patch.delenv("FORCE_COLOR", raising=False)
        patch.setenv("NO_COLOR", "1")
        # Otherwise each program reads the metadata of all packages in the environment.
        patch.setenv("PYDANTIC_DISABLE_PLUGINS", "1")
        yield


@pytest.fixture(scope="module")
def pip_without_a_registry() -> Iterator[None]:
    """Let pip find the package's dependencies in a folder, and leave compiling to those that import them."""
    try:
        folder = wheels(f"pydantic=={version('pydantic')}")
    except UnavailableError as reason:
        skip_without("The package's dependencies can't be installed", reason)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_COMPILE", "1")
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(folder))
        yield
