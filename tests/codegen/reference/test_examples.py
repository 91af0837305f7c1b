"""Examples are valid for schemas that `choices.toml` says little about, too, such as those of later releases."""

from __future__ import annotations

import json

import pytest

from codegen.diff.compare.pointers import resolve
from codegen.pinned.profiles import PLACES_OF
from codegen.reference.examples import Examples, read_choices, to_json
from codegen.regen import read_schema
from tests.support.models.validity import Validity
from tools.paths import ROOT


@pytest.mark.parametrize("profile", ["v1_unstable", "v2_draft_unstable"])
def test_every_type_of_another_profile_has_a_valid_example(profile: str) -> None:
    raw = json.loads((ROOT / "schema" / PLACES_OF[profile][0]).read_text("utf-8"))
    schema, validity = read_schema(raw, profile[:2]), Validity(raw)
    examples = Examples(schema, read_choices())
    public = [definition for name, definition in schema.definitions.items() if name not in schema.envelopes]
    values = {definition.name: (definition.pointer, to_json(examples.make(definition.name))) for definition in public}
    assert values
    assert {
        name: value for name, (pointer, value) in values.items() if not validity.holds(resolve(raw, pointer), value)
    } == {}
