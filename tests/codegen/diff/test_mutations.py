"""The report has every mutation of a real schema that codegen can still read, or counts it as a description."""

from __future__ import annotations

import json
from functools import cache

import pytest

from codegen.__main__ import SCHEMA
from codegen.diff.report import compare
from codegen.diff.sources import Side
from codegen.errors import SchemaError
from tests.codegen.diff.raw_changes import changes, covers, places
from tests.support import scale
from tests.support.codegen.mutations import Mutation, sample
from tests.support.diff.sides import side_of_schemas

FILES = {"v1": "v1/schema.json", "v2_draft_unstable": "v2/schema.unstable.json"}


@cache
def original(profile: str) -> Side:
    return side_of_schemas({profile: json.loads((SCHEMA / FILES[profile]).read_text("utf-8"))})


def missed(profile: str, mutation: Mutation) -> list[str]:
    """Return the changes of a mutation that no finding has; none if codegen refuses the schema."""
    base = original(profile)
    try:
        head = side_of_schemas({profile: mutation.schema})
    except SchemaError:
        return []
    report = compare(base, head)
    before, after = base.profiles[profile], head.profiles[profile]
    if "title" in mutation.kind and report.docs_only[profile]:
        return []  # a title that names no class counts as a description
    following = [(finding, places(finding, before, after)) for finding in report.findings]
    return [
        f"{mutation.id}: {change}"
        for change in changes(before.raw, mutation.schema)
        if not change.only_docs and not any(covers(*finding, change) for finding in following)
    ]


@pytest.mark.test_all
@pytest.mark.slow
@pytest.mark.stress
@pytest.mark.parametrize("profile", FILES)
def test_every_mutation_that_codegen_can_read_is_found(profile: str) -> None:
    mutations = scale.sample(sample(original(profile).profiles[profile].raw, 1), 5)
    assert [change for mutation in mutations for change in missed(profile, mutation)] == []
