"""Nothing in a schema is dropped silently: any change stops the generator or changes its output."""

from __future__ import annotations

from collections import Counter

import pytest

from codegen.__main__ import SCHEMA
from codegen.emit.modules import emit_profile
from codegen.errors import SchemaError
from codegen.pinned.pins import Pinned, load
from codegen.regen import read_schema
from tests.support import scale
from tests.support.codegen.build import Schema
from tests.support.codegen.mutations import Mutation, sample

PINNED = {pinned.profile.file: pinned for pinned in load(SCHEMA, pinned=True)}

_TEXTS = ("drop description", "drop x-docs-ignore")


def emitted(pinned: Pinned, schema: Schema) -> list[str]:
    """Return the generated files before formatting, with white space normalised."""
    files = emit_profile(pinned.profile, read_schema(schema, pinned.profile.own_tables))
    return [" ".join(text.split()) for text in files.values()]


def outcome(pinned: Pinned, mutation: Mutation, before: list[str]) -> str:
    """Return `stops`, `differs` or `is lost`. The output has the hash of the original schema."""
    try:
        return "is lost" if emitted(pinned, mutation.schema) == before else "differs"
    except SchemaError as error:
        return "stops" if error.message.endswith((".", "?")) else f"stops without a message: {error}"


@pytest.mark.test_all
@pytest.mark.slow
@pytest.mark.stress
@pytest.mark.parametrize("file", scale.sample(list(PINNED), 1))
def test_a_mutation_of_any_kind_stops_the_generator_or_changes_its_output(file: str) -> None:
    pinned = PINNED[file]
    schema = pinned.schema
    before = emitted(pinned, schema)
    # The shape of whole messages is checked where they are read. They have no models, so their titles and texts have no
    # effect. `make diff` reports the texts.
    messages = tuple(f"/$defs/{name}/" for name in read_schema(schema, pinned.profile.own_tables).envelopes)
    first = list(PINNED).index(file)
    chosen = [
        mutation for number in range(scale.count(1, 8)) for mutation in sample(schema, first + number, len(PINNED))
    ]
    chosen = [
        mutation
        for mutation in chosen
        if not mutation.place.startswith("property") or not mutation.pointer.startswith(messages)
    ]
    chosen = [
        mutation for mutation in chosen if mutation.kind not in _TEXTS or not mutation.pointer.startswith("/anyOf/")
    ]
    chosen = scale.sample(chosen, 5)
    outcomes = {mutation.id: outcome(pinned, mutation, before) for mutation in chosen}
    print(f"\n{file}: {len(outcomes)} mutations, {dict(Counter(outcomes.values()))}")
    assert {mutation: found for mutation, found in outcomes.items() if found not in ("stops", "differs")} == {}
    assert len(outcomes) >= scale.count(5, 160)
    assert {"stops", "differs"} == set(outcomes.values())
