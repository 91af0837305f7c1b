"""Packages that the generator writes in a test, and that are imported in place of the real one."""

from __future__ import annotations

import importlib
import sys
import typing
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import RootModel, TypeAdapter

from acp_runtime.models import descriptions
from codegen.emit.modules import emit_package, emit_profile
from codegen.files import write_files
from codegen.ir import Schema
from codegen.pinned.pins import load
from codegen.pinned.profiles import Profile, name_in_errors
from codegen.regen import PACKAGE, encode_files, read_schema

Generate = Callable[..., ModuleType]


@contextmanager
def bindings_in(folder: Path) -> Generator[None]:
    """Let `acp_bindings` be imported from a folder, as long as the block runs."""
    real = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == PACKAGE}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        unload_bindings()
        yield
    unload_bindings()
    sys.modules.update(real)


def unload_bindings() -> None:
    """Unload the package of bindings, so that another one can be imported under its name."""
    importlib.invalidate_caches()
    # They are kept by the names of modules, which the real package shares.
    typing.clear_overloads()
    descriptions._docstrings.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def check_package(folder: Path) -> None:
    """Import each profile of a generated package, build its classes, and look up the names in its tables."""
    with bindings_in(folder):
        for path in sorted(folder.glob(f"{PACKAGE}/*/methods.py")):
            profile = f"{PACKAGE}.{path.parent.name}"
            package = importlib.import_module(profile)
            models = dir(importlib.import_module(f"{profile}.models"))
            for name in package.__all__:
                value = getattr(package, name)
                if name in models:
                    _ = TypeAdapter(value).core_schema
                    assert not (isinstance(value, type) and issubclass(value, RootModel)), name
            tables = vars(importlib.import_module(f"{profile}.methods"))
            for table in ("AGENT_REQUESTS", "AGENT_NOTIFICATIONS", "CLIENT_REQUESTS", "CLIENT_NOTIFICATIONS"):
                for method in tables[table].values():
                    assert hasattr(package, method.params)
                    assert hasattr(package, getattr(method, "result", method.params))  # notifications have none


def write_unformatted(schemas: Path, output: Path) -> None:
    """Write the packages of a folder of schemas, without formatting them, to save time."""
    for pinned in load(schemas, pinned=False):
        with name_in_errors(pinned.profile):
            write_profile(pinned.profile, read_schema(pinned.schema, pinned.profile.own_tables), output)


def write_profile(profile: Profile, schema: Schema, output: Path) -> None:
    """Write the package of a profile."""
    files = {f"{profile.name}/{name}": text for name, text in emit_profile(profile, schema).items()}
    write_files(output / PACKAGE, encode_files(files | emit_package([profile])))
