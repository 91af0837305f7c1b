"""For any schema, the generator either stops with a message or gives packages that can be imported."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from codegen.errors import FileError, SchemaError
from codegen.ir import Schema
from codegen.regen import read_schema
from tests.support.codegen.fuzz import Fuzzed, fuzzed
from tests.support.codegen.generating import write_profile
from tests.support.codegen.made_up import made_up
from tests.support.import_generated import import_errors
from tests.support.scale import count

pytestmark = pytest.mark.stress

SEEDS, PACKAGES, MADE_UP = count(25, 5000), count(1, 150), count(1, 1000)


def accepted(case: Fuzzed) -> Schema | None:
    """Return the IR of a schema; None if the generator stops with a well-formed message."""
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
        return read_schema(case.schema, case.profile.facts)
    except SchemaError as error:
        return error
    except Exception as error:
        error.add_note(case.changes)
        raise


@pytest.mark.slow
def test_a_random_schema_is_accepted_or_stops_the_generator_with_a_message() -> None:
    outcomes = [accepted(fuzzed(seed)) for seed in range(SEEDS)]
    assert 0 < outcomes.count(None) < SEEDS


@pytest.mark.test_all
@pytest.mark.slow
def test_the_packages_of_accepted_schemas_can_be_imported(tmp_path: Path) -> None:
    changed = (case for case in map(fuzzed, itertools.count(1_000_000)) if accepted(case))
    folders: dict[str, str] = {}
    for case in (*itertools.islice(changed, PACKAGES), *map(made_up, range(MADE_UP))):
        schema = accepted(case)
        assert schema is not None
        folder = tmp_path / str(len(folders))
        write(folder, case, schema)
        folders[str(folder)] = case.changes
    assert {folders[folder]: why for folder, why in import_errors(map(Path, folders)).items()} == {}


def write(folder: Path, case: Fuzzed, schema: Schema) -> None:
    try:
        write_profile(case.profile, schema, folder)
    except Exception as error:
        error.add_note(case.changes)
        raise
