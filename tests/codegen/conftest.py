"""Fixtures of the generator's tests: generated packages, and folders of pinned schemas."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.codegen.build import Schema, acp_schema, write_schema
from tests.support.codegen.generating import Generate, bindings_in, unload_bindings, write_unformatted
from tests.support.codegen.refusal_base import BASE
from tests.support.codegen_copy import Copy, codegen_copy
from tests.support.releases import why_unavailable
from tests.support.skipping import skip_or_fail


@pytest.fixture
def generate(tmp_path: Path) -> Iterator[Generate]:
    """Generates a profile from definitions or a whole schema, and imports it in place of the real one."""
    with generating(tmp_path) as build:
        yield build


@pytest.fixture(scope="module")
def generate_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generate]:
    """Generates a profile for all tests of a module."""
    with generating(tmp_path_factory.mktemp("generated")) as build:
        yield build


@contextmanager
def generating(folder: Path) -> Generator[Generate]:
    output = folder / "generated"

    def build(definitions: Schema, profile: str = "v1", file: str = "v1/schema.json") -> ModuleType:
        schema = definitions if "$defs" in definitions else acp_schema(definitions)
        shutil.rmtree(output, ignore_errors=True)
        write_unformatted(write_schema(folder / "schema", schema, file), output)
        unload_bindings()
        return importlib.import_module(f"acp_bindings.{profile}")

    with bindings_in(output):
        yield build


@pytest.fixture(scope="session")
def shared_copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    """A copy of codegen that tests share, because its process takes seconds to start.

    A test may leave its package out of date, and nothing else.
    """
    with codegen_copy(tmp_path_factory.mktemp("shared") / "copy", BASE) as copy:
        yield copy


@pytest.fixture
def npm() -> None:
    """Skips a test if npm or the network is missing."""
    if why_unavailable():
        skip_or_fail("peers", f"This needs npm, and {why_unavailable()}.")
