"""For any schema, the generator either stops with a message or gives packages that can be imported."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from codegen.errors import FileError, SchemaError
from codegen.regen import read_schema
from tests.support.codegen.generating import check_package, write_profile
from tests.support.codegen.random_schemas import RandomSchema, changed_schema, new_schema
from tests.support.scale import count

pytestmark = [pytest.mark.slow, pytest.mark.stress]

SEEDS, PACKAGES, NEW = count(25, 5000), count(1, 150), count(1, 1000)


def accepted(case: RandomSchema) -> bool:
    """Return whether the generator reads a schema; otherwise it has to stop with a well-formed message."""
    try:
        read_schema(case.schema, case.profile.own_tables)
    except SchemaError as error:
        stopped = error
    except Exception as error:
        error.add_note(case.origin)
        raise
    else:
        return True
    assert not isinstance(stopped, FileError)
    assert stopped.pointer.startswith("/") or not stopped.pointer
    assert stopped.message.endswith((".", "?"))
    assert str(stopped).endswith(".")
    assert "\n" not in str(stopped)
    return False


def test_a_random_schema_is_accepted_or_stops_the_generator_with_a_message() -> None:
    outcomes = [accepted(changed_schema(seed)) for seed in range(SEEDS)]
    assert {*outcomes} == {True, False}


@pytest.mark.test_all
def test_the_packages_of_accepted_schemas_can_be_imported(tmp_path: Path) -> None:
    changed = (case for case in map(changed_schema, itertools.count(1_000_000)) if accepted(case))
    for number, case in enumerate((*itertools.islice(changed, PACKAGES), *map(new_schema, range(NEW)))):
        try:
            write_profile(case.profile, read_schema(case.schema, case.profile.own_tables), tmp_path / str(number))
            check_package(tmp_path / str(number))
        except Exception as error:
            error.add_note(case.origin)
            raise
