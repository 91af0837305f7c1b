"""Count the descriptions that changed. They are not listed, because no code depends on them."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.diff.compare.comparison import Comparison
from codegen.ir import Definition, Model


def count_changed_descriptions(comparison: Comparison) -> int:
    """Return how many descriptions differ, of definitions, properties and messages that both sides have."""
    pairs = [pair for old, new in comparison.pairs() for pair in _texts(old, new)]
    old, new = comparison.old.schema.message_docs, comparison.new.schema.message_docs
    pairs += [(old[subject], new[subject]) for subject in old if subject in new]
    return sum(before != after for before, after in pairs)


def _texts(old: Definition, new: Definition) -> Iterator[tuple[str, str]]:
    yield old.doc, new.doc
    if isinstance(old, Model) and isinstance(new, Model):
        docs = {field.wire: field.doc for field in new.fields}
        yield from ((field.doc, docs[field.wire]) for field in old.fields if field.wire in docs)
