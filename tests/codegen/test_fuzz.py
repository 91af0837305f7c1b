"""Whatever a schema is, the generator either stops with one sentence or gives packages that can be imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.__main__ import ROOT
from codegen.emit.modules import emit_package, emit_profile
from codegen.errors import FileError, SchemaError
from codegen.files.folders import write_files
from codegen.ir import Schema
from codegen.regen import read_schema
from tests.support.codegen.fuzz import Fuzzed, fuzzed
from tests.support.scale import count

pytestmark = pytest.mark.stress

SEEDS, PACKAGES = count(100, 5000), count(6, 300)


def understood(case: Fuzzed) -> Schema | None:
    """What the generator makes of a schema; None if it stops with a place and a sentence."""
    found = attempt(case)
    if isinstance(found, Schema):
        return found
    assert not isinstance(found, FileError)
    assert found.pointer.startswith("/") or not found.pointer
    assert found.message.endswith((".", "?"))
    assert str(found).endswith(".")
    assert "\n" not in str(found)
    return None


def attempt(case: Fuzzed) -> Schema | SchemaError:
    try:
        return read_schema(case.schema, case.profile.table)
    except SchemaError as error:
        return error
    except Exception as error:
        error.add_note(case.done)
        raise


@pytest.mark.slow
def test_a_schema_with_anything_wrong_in_it_stops_with_a_sentence_or_is_understood() -> None:
    outcomes = [understood(fuzzed(seed)) for seed in range(SEEDS)]
    assert 0 < outcomes.count(None) < SEEDS


@pytest.mark.slow
def test_what_is_understood_can_be_imported(tmp_path: Path) -> None:
    folders: dict[str, str] = {}
    for seed in range(1_000_000, 1_000_000 + PACKAGES):
        case = fuzzed(seed)
        schema = understood(case)
        if schema is not None:
            write(tmp_path / str(seed), case, schema)
            folders[str(tmp_path / str(seed))] = case.done
    assert folders
    command = [sys.executable, "-m", "tests.support.import_generated", *folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 0, done.stderr
    failed: dict[str, str] = json.loads(done.stdout)
    assert {folders[folder]: why for folder, why in failed.items()} == {}


def write(folder: Path, case: Fuzzed, schema: Schema) -> None:
    """Write the package of a schema, not formatted."""
    try:
        emitted = emit_profile(case.profile, schema)
    except Exception as error:
        error.add_note(case.done)
        raise
    files = {f"{case.profile.name}/{name}": text for name, text in emitted.items()}
    files |= emit_package([case.profile])
    write_files(folder / "acp_bindings", {name: text.encode() for name, text in files.items()})
