"""Compare definitions: which were added, removed or renamed, and what changed in each.

Changed descriptions are only counted, because no code depends on them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from codegen.diff.compare.comparison import Comparison, deprecation_texts
from codegen.diff.compare.models import compare_models
from codegen.diff.compare.pointers import resolve
from codegen.diff.compare.types import compare_types
from codegen.diff.compare.unions import compare_unions
from codegen.diff.match import find_split_parts, structure_of
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import breaks
from codegen.ir import Alias, Definition, Model, Schema, Union

_KINDS = {Model: "object", Union: "union", Alias: "alias"}


def compare_definitions(comparison: Comparison) -> None:
    """Compare all definitions. The unstable schemas of both sides tell which ones became stable or unstable."""
    old, new = comparison.old.schema, comparison.new.schema
    added = _find_others(comparison, new, set(comparison.names.values()))
    for definition in _find_others(comparison, old, comparison.names.keys()):
        is_unstable = definition.name in comparison.new_unstable.definitions
        parts = [] if is_unstable else find_split_parts(old, definition, new, added, comparison.names)
        rule = "definition-left-stable" if is_unstable else "definition-split" if parts else "definition-removed"
        texts = (definition.name, ", ".join(parts)) if parts else ("", "")
        comparison.add(rule, definition, None, symbols=comparison.symbols(*_classes(old, definition)), texts=texts)
    for definition in added:
        was_unstable = definition.name in comparison.old_unstable.definitions
        comparison.add("definition-stabilised" if was_unstable else "definition-added", None, definition)
    for before, after in comparison.pairs():
        _compare(comparison, before, after)
    _compare_old_names(comparison)


def _find_others(comparison: Comparison, schema: Schema, known: Collection[str]) -> list[Definition]:
    """Return the definitions that only this side has. Inline union members are compared with their union."""
    known = {*known, *comparison.told}
    return [
        definition for definition in schema.definitions.values() if definition.name not in known and _is_own(definition)
    ]


def _is_own(definition: Definition) -> bool:
    """Return whether it is a definition of the schema, not an inline union member, which is compared with its union."""
    return definition.pointer == f"/$defs/{definition.name}"


def _classes(schema: Schema, definition: Definition) -> list[Definition]:
    """Return a definition and its inline members."""
    within = f"{definition.pointer}/"
    members = [member for member in schema.definitions.values() if member.pointer.startswith(within)]
    return [definition, *members]


def _both_classes(comparison: Comparison, old: Definition, new: Definition) -> tuple[str, ...]:
    return comparison.symbols(*_classes(comparison.new.schema, new), *_classes(comparison.old.schema, old))


def _compare(comparison: Comparison, old: Definition, new: Definition) -> None:
    if old.name != new.name and _is_own(old) and _is_own(new):
        _add_renamed(comparison, old, new)
    if old.deprecated != new.deprecated and new.name not in {method.params for method in comparison.new.schema.methods}:
        comparison.add("definition-deprecated", old, new, texts=deprecation_texts(old, new))
    if isinstance(old, Model) and isinstance(new, Model):
        compare_models(comparison, old, new)
    elif isinstance(old, Union) and isinstance(new, Union):
        compare_unions(comparison, old, new)
    elif isinstance(old, Alias) and isinstance(new, Alias):
        for change in compare_types(comparison, old.type, new.type):
            texts, read = (change.before, change.after), f"value: {old.type.hint} = new  # new: {new.name}"
            comparison.add(change.rule, old, new, verdicts=change.verdicts, texts=texts, sent=texts, read=read)
    elif not _is_consequence(comparison, old, new):
        rule, texts = "definition-kind-changed", (_KINDS[type(old)], _KINDS[type(new)])
        verdicts, symbols = comparison.by_structure(rule, old.name, new.name), _both_classes(comparison, old, new)
        comparison.add(rule, old, new, verdicts=verdicts, texts=texts, symbols=symbols)


def _is_consequence(comparison: Comparison, old: Definition, new: Definition) -> bool:
    """Return whether a union member itself is unchanged: its kind differs because the definition it wraps changed."""
    before, after = resolve(comparison.old.raw, old.pointer), resolve(comparison.new.raw, new.pointer)
    return not _is_own(new) and bool(before == after)


def _add_renamed(comparison: Comparison, old: Definition, new: Definition) -> None:
    before = structure_of(comparison.old.schema, old, comparison.names)
    equal = before.count_equal(structure_of(comparison.new.schema, new, {}))
    renamed = comparison.renamed(old.name, new.name)._replace(equal=equal)
    implement = breaks(old.name in _payloads(comparison.old.schema))
    verdicts = RULES["definition-renamed"].verdicts._replace(implement=implement)
    verdicts = verdicts.kept() if renamed.until else verdicts
    texts, symbols = (old.name, new.name), _both_classes(comparison, old, new)
    comparison.add("definition-renamed", old, new, verdicts=verdicts, texts=texts, symbols=symbols, renamed=renamed)


def _compare_old_names(comparison: Comparison) -> None:
    """Find old names that the base keeps and the head doesn't. Those of inline members go with that of their union."""
    old, new = comparison.old.schema, comparison.new.schema
    meant = {old_name.old: old_name.new for old_name in new.old_names} | {name: name for name in new.definitions}
    names = comparison.names
    gone = [
        old_name
        for old_name in old.old_names
        if old_name.new in names and meant.get(old_name.old) != names[old_name.new]
    ]
    whole = tuple(old_name.old for old_name in gone if _is_own(old.definitions[old_name.new]))
    rule = "definition-old-name-removed"
    for old_name in gone:
        if old_name.old in whole or not old_name.old.startswith(whole):
            before, after = old.definitions[old_name.new], new.definitions[names[old_name.new]]
            verdicts = RULES[rule].verdicts._replace(implement=breaks(before.name in _payloads(old)))
            texts = (f"{old_name.old} = {old_name.new}", "")
            symbols = tuple(comparison.symbol(other.old) for other in gone if other.old.startswith(old_name.old))
            comparison.add(rule, before, after, subject=old_name.old, verdicts=verdicts, texts=texts, symbols=symbols)


def _payloads(schema: Schema) -> set[str | None]:
    return {name for method in schema.methods for name in (method.params, method.result)}


def count_changed_descriptions(comparison: Comparison) -> int:
    """Return how many descriptions differ, of definitions and properties that both sides have."""
    pairs = [pair for old, new in comparison.pairs() for pair in _pair_descriptions(old, new)]
    return sum(before != after for before, after in pairs)


def _pair_descriptions(old: Definition, new: Definition) -> Iterator[tuple[str, str]]:
    yield old.doc, new.doc
    if isinstance(old, Model) and isinstance(new, Model):
        docs = {field.wire: field.doc for field in new.fields}
        yield from ((field.doc, docs[field.wire]) for field in old.fields if field.wire in docs)
