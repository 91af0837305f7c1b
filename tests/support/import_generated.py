"""Imports generated packages, builds every class in them, and looks up the names in their method tables.

Each package is imported in its own process.

A program, because it imports the common dependencies once and then forks. Its arguments are the folders of the
packages. It prints a JSON object with the traceback for each folder that can't be imported.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterable
from pathlib import Path

from pydantic import RootModel, TypeAdapter

from tests.support.paths import ROOT

_TABLES = ("AGENT_REQUESTS", "AGENT_NOTIFICATIONS", "CLIENT_REQUESTS", "CLIENT_NOTIFICATIONS")


def import_errors(folders: Iterable[Path]) -> dict[str, str]:
    """Run the program, and return what it prints."""
    command = [sys.executable, "-m", "tests.support.import_generated", *map(str, folders)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 0, done.stderr
    errors: dict[str, str] = json.loads(done.stdout)
    return errors


def _import(folder: Path) -> None:
    sys.path.insert(0, str(folder))
    for profile in sorted(path.parent.name for path in folder.glob("acp_bindings/*/__init__.py")):
        package = importlib.import_module(f"acp_bindings.{profile}")
        models = dir(importlib.import_module(f"acp_bindings.{profile}.models"))
        methods = importlib.import_module(f"acp_bindings.{profile}.methods")
        for name in package.__all__:
            value = getattr(package, name)
            if name in models:
                _ = TypeAdapter(value).core_schema
                assert not (isinstance(value, type) and issubclass(value, RootModel)), name
        for name in _TABLES:
            for method in getattr(methods, name).values():
                assert hasattr(package, method.params)
                assert hasattr(package, getattr(method, "result", method.params))  # notifications have none


def _import_error(folder: Path) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            _import(folder)
            os._exit(0)
        except BaseException:
            os.write(writing, traceback.format_exc()[-2000:].encode())
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        error = pipe.read()
    return error if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) else ""


if __name__ == "__main__":
    warnings.simplefilter("error")
    sys.stdout.write(json.dumps({folder: error for folder in sys.argv[1:] if (error := _import_error(Path(folder)))}))
