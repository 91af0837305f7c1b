"""Helpers of the fixture `generate`, which generates and imports a package, unformatted to save time."""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from codegen.emit.modules import emit_package, emit_profile
from codegen.files import write_files
from codegen.ir import Schema
from codegen.pinned.pins import load
from codegen.pinned.profiles import Profile, name_in_errors
from codegen.regen import PACKAGE, encode_files, read_schema

Generate = Callable[..., ModuleType]


def unload_bindings() -> None:
    """Unload the package of bindings, so that another one can be imported under its name."""
    typing.clear_overloads()  # typing keys them by module and name, which the real package shares
    for name in [name for name in sys.modules if name.partition(".")[0] == "acp_bindings"]:
        del sys.modules[name]


def write_unformatted(schemas: Path, output: Path) -> None:
    """Write the packages of a folder of schemas."""
    for each in load(schemas, pinned=False):
        with name_in_errors(each.profile):
            write_profile(each.profile, read_schema(each.schema, each.profile.facts), output)


def write_profile(profile: Profile, schema: Schema, output: Path) -> None:
    """Write the package of a profile."""
    files = {f"{profile.name}/{name}": text for name, text in emit_profile(profile, schema).items()}
    write_files(output / PACKAGE, encode_files(files | emit_package([profile])))
