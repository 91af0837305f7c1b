"""Fixtures of the tests of the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.docs.blocks import name, pages
from tests.support.docs.files import versions, with_unique_modules
from tests.support.skipping import skip_without
from tools.third_party import UnavailableError, frameworks


@pytest.fixture(scope="session")
def environment() -> Path:
    """The environment with the frameworks that agents are built on."""
    try:
        return frameworks()
    except UnavailableError as reason:
        skip_without("The frameworks can't be installed", reason)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of all pages. The name of a file begins with its page."""
    folder = tmp_path_factory.mktemp("programs")
    for page in pages():
        slug = name(page).removesuffix(".md").replace("/", "_").replace("-", "_").replace(".", "_")
        for number, files in enumerate(versions(page)):
            for file, text in with_unique_modules(files, f"{slug}_{number}_").items():
                (folder / file).write_text(text, "utf-8")
    return folder
